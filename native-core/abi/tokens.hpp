/// The handles of kvtokens.h.
#pragma once

#include "abi/guard.hpp"

#pragma GCC visibility push(default)
#include "kvtokens.h"
#pragma GCC visibility pop

#include "tokens/bpe_tokenizer.hpp"
#include "tokens/prompt_memory.hpp"

#include <memory>

struct ktk_tokenizer {
    std::unique_ptr<kvindex::tokens::bpe_tokenizer> impl;
};

struct ktk_memory {
    kvindex::tokens::prompt_memory impl;
};
