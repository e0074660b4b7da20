"""Stands in for SGLang's compiled kernels on a machine without a GPU.

With the torch_native attention and the pytorch sampling backend SGLang imports names of this package and calls none of
them, but for three copies between the host tier (HiCache) and the device, which are plain torch here: the device's memory is
the machine's. Everything else in SGLang (scheduler, radix tree, tiers, events, HTTP) is the real thing. Any other name
raises where it is called, so that nothing passes by silently.

Our own; put the folder above this package on PYTHONPATH.
"""

import builtins
import importlib.abc
import importlib.machinery
import sys
import types

import torch

__version__ = "0.4.10"  # what SGLang's own check of its kernels asks for


class Missing:
    """A name that can be imported and not be called."""

    def __init__(self, name):
        self.__name__ = name

    def __call__(self, *args, **kwargs):
        raise NotImplementedError(f"no kernel on this machine: {self.__name__}")

    def __getattr__(self, name):
        return attribute(self.__name__, name)


def attribute(of, name):
    if name.startswith("__"):
        raise AttributeError(name)
    return Missing(f"{of}.{name}")


def __getattr__(name):
    return attribute(__name__, name)


class Submodules(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Every module below this package exists, and holds missing names."""

    def find_spec(self, name, path=None, target=None):
        if name.startswith(__name__ + "."):
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec):
        module = types.ModuleType(spec.name)
        module.__path__ = []
        module.__getattr__ = lambda name: attribute(spec.name, name)
        return module

    def exec_module(self, module):
        pass


sys.meta_path.append(Submodules())


def transfer_kv_direct(src_layers, dst_layers, src_indices, dst_indices, page_size):
    for source, target in zip(src_layers, dst_layers):
        target[dst_indices] = source[src_indices]


def transfer_kv_all_layer_direct_lf_pf(src_ptrs, dst_ptrs, src_indices, dst_indices, page_size):
    """From one tensor per layer to pages that hold all layers."""
    layers = len(src_ptrs) // len(dst_ptrs)
    pages, offsets = dst_indices // page_size, dst_indices % page_size
    for part, target in enumerate(dst_ptrs):
        for layer in range(layers):
            target[pages, layer, offsets] = src_ptrs[part * layers + layer][src_indices]


def transfer_kv_per_layer_direct_pf_lf(src_ptrs, dst_ptrs, src_indices, dst_indices, layer_id, page_size):
    """From pages that hold all layers to the tensors of one layer."""
    pages, offsets = src_indices // page_size, src_indices % page_size
    for source, target in zip(src_ptrs, dst_ptrs):
        target[dst_indices] = source[pages, layer_id, offsets]


class Cudart:
    """Pinning host memory for a device that is the host."""

    @staticmethod
    def cudaHostRegister(ptr, size, flags):
        return 0

    @staticmethod
    def cudaHostUnregister(ptr):
        return 0


# SGLang's host pool uses these names without importing them where it found no GPU.
for copy in (transfer_kv_direct, transfer_kv_all_layer_direct_lf_pf, transfer_kv_per_layer_direct_pf_lf):
    setattr(builtins, copy.__name__, copy)
if not torch.cuda.is_available():
    torch.cuda.cudart = Cudart

# Models take these by name when they are imported.
for op in (
    "apply_rotary_pos_emb_cpu", "conv3d_embed_cpu", "fused_dual_residual_rmsnorm_cpu", "fused_gdn_gating_cpu", "fused_moe_router_cpu",
    "fused_qk_gemma_rmsnorm_cpu", "fused_qk_gemma_rmsnorm_with_gate_cpu", "fused_qkvzba_split_reshape_cat_contiguous_cpu", "fused_sigmoid_mul_cpu", "rmsnorm_cpu"):
    if not hasattr(torch.ops.sgl_kernel, op):
        setattr(torch.ops.sgl_kernel, op, Missing(f"torch.ops.sgl_kernel.{op}"))
