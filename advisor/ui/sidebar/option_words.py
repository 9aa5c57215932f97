"""Words of the options that stand for no named thing: none, automatic, this machine."""

THIS, ANOTHER, NAMED = "This machine", "Another machine", "By name"
NO_GPU, AS_SEEN, AUTO, NONE, ANY = "No GPU", "As seen", "Auto", "None", "Any"
AS_STORED = "As stored"
PCI, NVLINK = "PCI Express", "NVLink bridge"
OWNED, RENTED, NOTHING, BY_PARTS = "Owned", "Rented", "Nothing yet", "By its parts"
IN_PARTS, WHOLE, BY_USER = "A part of each", "Whole ones", "Whole ones, and users of its own"
"""What each of several GPUs holds of the experts."""
