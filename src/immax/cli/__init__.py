"""The command ``immax``, with one thin module for each of its commands."""
