"""Lets engines do on a machine without a GPU what they try with one only: hand KV caches over, and serve LoRA adapters. Everything else (registry, rooms,
handshake, transfer over TCP; loading, computing and caching with an adapter; scheduler, radix tree and events with EAGLE's keys) is the real thing.

Our own; put its folder on PYTHONPATH.
"""
import importlib.abc
import importlib.machinery
import os
import sys


def sglang_sender(module):
    """It copies indices through pinned memory otherwise, which needs CUDA."""
    module.MooncakeKVSender.supports_host_tensor_indices = False


def vllm_connector(module):
    """It asks which GPU it is on."""
    module.torch.accelerator.current_device_index = lambda: 0


def sglang_adapters(module):
    """It pins memory that goes to the GPU later; without CUDA there is none to pin."""
    torch = module.torch
    for name in ("tensor", "empty", "zeros"):
        def unpinned(*given, make=getattr(torch, name), pin_memory=False, **more):
            return make(*given, **more)

        setattr(torch, name, unpinned)
    torch.Tensor.pin_memory = lambda self, *given: self


def sglang_keys(module):
    """EAGLE has the radix tree use pairs of tokens as keys. Its draft model needs kernels that are not here; the tree does not."""
    if os.environ.get("BIGRAM_KEYS"):
        made = module.CacheInitParams.__init__
        module.CacheInitParams.__init__ = lambda self, *given, **more: made(self, *given, **{**more, "is_eagle": True})


CHANGED = {
    "sglang.srt.lora.layers": sglang_adapters,
    "sglang.srt.mem_cache.cache_init_params": sglang_keys,
    "sglang.srt.disaggregation.mooncake.conn": sglang_sender,
    "vllm.distributed.kv_transfer.kv_connector.v1.mooncake.mooncake_connector": vllm_connector,
}


class AfterImport(importlib.abc.MetaPathFinder):
    """Changes a module once it has been run."""

    def find_spec(self, name, path, target=None):
        change = CHANGED.pop(name, None)
        if change is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            change(module)

        spec.loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, AfterImport())
