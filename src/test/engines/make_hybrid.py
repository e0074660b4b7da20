"""Tiny models with several kinds of caches, for vLLM with `--load-format dummy`: what they say means nothing, their caches are real."""
import json
import shutil

from fleet import LOGS, MODEL

WINDOW = 64  # tokens
KINDS = {
    # Like Gemma 3: windows first, so that their groups have the first numbers.
    "windows": dict(
        architectures=["Gemma3ForCausalLM"], model_type="gemma3_text", layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        sliding_window=WINDOW, query_pre_attn_scalar=32, rope_local_base_freq=10000.0, hidden_activation="gelu_pytorch_tanh", head_dim=32),
    # Like LFM 2: short convolutions, whose states are kept like those of Mamba.
    "states": dict(
        architectures=["Lfm2ForCausalLM"], model_type="lfm2", layer_types=["conv", "conv", "full_attention"], conv_L_cache=3, conv_bias=False, conv_dim=64,
        conv_dim_out=64, block_dim=64, block_ff_dim=128, block_multiple_of=32, block_ffn_dim_multiplier=1.0, block_auto_adjust_ff_dim=False, norm_eps=1e-6),
}


def hybrid(kind):
    """Where a model of this kind is; made when it is not there yet."""
    out = LOGS / "hybrid" / kind
    if not (out / "config.json").exists():
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        for name in ("tokenizer.json", "tokenizer_config.json", "generation_config.json"):
            shutil.copy(MODEL / name, out / name)
        tokens = {k: v for k, v in json.loads((MODEL / "config.json").read_text()).items() if k == "vocab_size" or k.endswith("_token_id")}
        (out / "config.json").write_text(json.dumps({
            **tokens, **dict(
                hidden_size=64, intermediate_size=128, num_hidden_layers=3, num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=8192,
                rms_norm_eps=1e-6, rope_theta=10000.0, torch_dtype="float32", tie_word_embeddings=True), **KINDS[kind]}, indent=1))
    return out
