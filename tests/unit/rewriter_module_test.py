"""Several emissions in one module: no clash, nothing lost, each still what it was."""

from hipify_tile.rewriter.emit.module import Member, compose_module, factory_names
from hipify_tile.rewriter.model import Emission, Level

PLAIN = ("import tilelang.language as T",)
HELPED = ("import struct", "", *PLAIN, "", "", "def f32(value):", "    return value")
OTHER = ("import struct", "", *PLAIN, "", "", "def f64(value):", "    return value")


def member(id, factory, arguments=(), prelude=PLAIN, remark=""):
    text = (
        f"# from a.cu:1\ndef {factory}():\n    @T.prim_func\n    def {factory}(\n"
        f"        {factory}_x: T.int32,\n    ):\n        T.evaluate({factory}_x)\n\n"
        f"    return {factory}\n"
    )
    emission = Emission(Level.LOOP, factory, "", prelude, text, (), (), ())
    return Member(id, emission, arguments, remark)


def test_single_kernels_keep_their_names():
    assert factory_names([member("a", "fill"), member("b", "copy")]) == {"a": "fill", "b": "copy"}


def test_instances_are_named_by_their_arguments():
    members = [
        member("a", "zip", ("int", "ops::Add<int>")),
        member("b", "zip", ("float", "4")),
        member("c", "zip", ("x" * 60,)),
        member("d", "zip"),
    ]
    names = factory_names(members)
    assert names["a"] == "zip_int_ops_Add_int"
    assert names["b"] == "zip_float_4"
    assert len(set(names.values())) == 4
    assert all(name.isidentifier() for name in names.values())


def test_arguments_that_spell_alike_still_differ():
    members = [member("a", "k", ("a<b>",)), member("b", "k", ("a", "b"))]
    assert len(set(factory_names(members).values())) == 2


def test_only_the_factory_is_renamed():
    text = compose_module("a.cu", [member("a", "k", ("int",)), member("b", "k", ("float",))])
    compile(text, "module", "exec")
    assert text.count("def k_int(") == 2
    assert "return k_int\n" in text
    assert "        k_x: T.int32,\n" in text
    assert "def k(" not in text


def test_preludes_are_merged_once_and_in_order():
    text = compose_module(
        "a.cu",
        [member("a", "f"), member("b", "g", prelude=HELPED), member("c", "h", prelude=OTHER),
                 member("d", "i", prelude=HELPED, remark="NOT VERIFIED (TM5008)")],
    )  # fmt: skip
    head, _, _ = text.partition("# from")
    assert head == (
        '"""TileLang for the CUDA kernels of a.cu."""\n\nimport struct\n\n'
        "import tilelang.language as T\n\n\ndef f32(value):\n    return value\n\n\n"
        "def f64(value):\n    return value\n\n\n"
    )
    assert "# NOT VERIFIED (TM5008)\n# from a.cu:1\ndef i():" in text
