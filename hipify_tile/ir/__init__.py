"""The three intermediate representations and their shared expression language."""
