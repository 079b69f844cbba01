"""The documented refusals, one family a file.

Each file has one function that takes an operation and the device and yields what the compiler would
refuse about it.
"""
