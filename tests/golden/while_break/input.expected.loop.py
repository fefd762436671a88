# not emitted
