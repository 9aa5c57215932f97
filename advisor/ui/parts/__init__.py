"""Parts that several pages draw with."""
