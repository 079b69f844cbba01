"""What compiling a model would meet, told without generating code.

The package is not called `explain`, which is the name of the function that users import.
"""
