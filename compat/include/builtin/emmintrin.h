// Not available without the compiler headers: nothing is declared.
