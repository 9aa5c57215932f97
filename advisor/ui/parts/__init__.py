"""Drawing functions shared by several pages."""
