"""The evidence for the chapter on room for finished results."""
