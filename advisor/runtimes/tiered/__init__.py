"""Engines that keep experts in tiers: VRAM, RAM and the drive; a row of a table describes each."""
