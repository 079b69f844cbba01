"""NEFF files and what is kept beside them."""
