"""Facts change: what retires what, why, and how it is taken back."""
