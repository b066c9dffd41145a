"""Drawings that several kinds share: what they observed, as plain values for the reports."""
