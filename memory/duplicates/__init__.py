"""Texts that say the same thing: how they are found, and how look-alikes are told from them."""
