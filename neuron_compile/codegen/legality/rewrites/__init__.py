"""Exact rewrites of what the compiler refuses, one kind a file.

Each file has one function of the file's name: it takes one operation and the device, and says
whether it replaced the operation. Building goes on at the operation's location, which ties the new
operations to the same line of the user's program.
"""
