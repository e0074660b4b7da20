"""Tells a KV-cache-aware router which blocks an engine holds."""

from warmpath_publisher._ids import block_ids
from warmpath_publisher._publisher import Publisher, Stats
from warmpath_publisher._wire import Tier

__all__ = ["Publisher", "Stats", "Tier", "block_ids"]
