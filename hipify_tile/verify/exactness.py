"""Compiler flags under which C++ means what the kernel means: one tuple for original and rewrite.

Both sides must be compiled alike, or equal programs would give unequal bits. The one thing that
differs on purpose is what an uninitialised local holds.
"""

EXACT_FLAGS = (
    "-O1",
    "-w",
    "-fPIC",
    # Integers wrap, as on a device, and memory may be read as another type.
    "-fwrapv",
    "-fno-strict-aliasing",
    # A device fuses and folds nothing that the source does not; the rounding of an inexact call
    # folded at compile time may be another than that of the call.
    "-ffp-contract=off",
    "-frounding-math",
    # GCC treats fmin and fmax as commutative, which decides between -0 and +0.
    "-fno-builtin-fmin",
    "-fno-builtin-fminf",
    "-fno-builtin-fmax",
    "-fno-builtin-fmaxf",
    # Every access happens, so that guard pages see it.
    "-fno-delete-null-pointer-checks",
    "-fno-isolate-erroneous-paths-dereference",
    # Guard pages do not see an index beyond a local or shared array of static extent: it traps.
    "-fsanitize=bounds",
    "-fsanitize-undefined-trap-on-error",
)

# The compiler announces every access to the executor, which looks for data races: no library of its
# own is linked. Line tables say where.
_ANNOUNCED = ("-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0", "-g1", "-gdwarf-4")

# A result that depends on an uninitialised local then differs between the two sides. Zero, which a
# rewrite that lost an initialisation might get by with, is the original's.
ORIGINAL_FLAGS = (*EXACT_FLAGS, "-ftrivial-auto-var-init=zero", *_ANNOUNCED)
REWRITE_FLAGS = (*EXACT_FLAGS, "-ftrivial-auto-var-init=pattern")
