"""Lets SGLang hand KV caches over on a machine without a GPU: its Mooncake sender is told not to copy indices through pinned memory, which
needs CUDA. Everything else of the hand-over (registry, rooms, handshake, transfer over TCP) is the real thing.

Our own; put its folder on PYTHONPATH.
"""
import importlib.abc
import importlib.machinery
import sys

SENDER = "sglang.srt.disaggregation.mooncake.conn"


class AfterImport(importlib.abc.MetaPathFinder):
    """Changes the one class once its module has been run."""

    def find_spec(self, name, path, target=None):
        if name != SENDER:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            module.MooncakeKVSender.supports_host_tensor_indices = False

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, AfterImport())
