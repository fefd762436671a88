"""Built programs and other binaries: what is in them, how they run, which kernel breaks them."""
