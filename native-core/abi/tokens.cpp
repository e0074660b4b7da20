/// The C ABI of the tokenizer: checks, translates, and does nothing else.
#include "abi/tokens.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace {

using kvindex::abi::guarded;
using kvindex::abi::readable;
using kvindex::abi::writable;
using namespace kvindex::tokens;

static_assert(sizeof(merge) == sizeof(ktk_merge) && alignof(merge) == alignof(ktk_merge));
static_assert(offsetof(merge, right) == offsetof(ktk_merge, right) &&
              offsetof(merge, result) == offsetof(ktk_merge, result));
static_assert(KTK_MAX_ID == max_token_id && KTK_MAX_MERGES == max_merges &&
              KTK_MAX_TEXT == bpe_tokenizer::max_text);
static_assert(KTK_DEEPSEEK == static_cast<std::uint32_t>(pattern::deepseek) &&
              KTK_DEEPSEEK + 1 == pattern_count);
static_assert(KTK_O200K == static_cast<std::uint32_t>(pattern::o200k));

bool good_token(const ktk_config& config, const ktk_token& token, std::uint32_t flags) {
    return token.id <= KTK_MAX_ID && (token.flags & ~flags) == 0 && token.reserved == 0 && token.length != 0 &&
           token.offset <= config.byte_count && token.length <= config.byte_count - token.offset;
}

bool good_config(const ktk_config* c) {
    return c != nullptr && readable(c, 1) && c->size == sizeof *c &&
           (c->flags & ~(KTK_NFC | KTK_IGNORE_MERGES)) == 0 && readable(c->bytes, c->byte_count) &&
           readable(c->vocabulary, c->vocabulary_count) && readable(c->added, c->added_count) &&
           readable(c->merges, c->merge_count) && readable(c->steps, c->step_count) &&
           readable(c->before, c->before_count) && readable(c->behind, c->behind_count) &&
           c->step_count <= KTK_MAX_STEPS && c->merge_count <= KTK_MAX_MERGES &&
           std::all_of(c->steps, c->steps + c->step_count, [](std::uint32_t s) { return s < pattern_count; });
}

bytes content(const ktk_config& config, const ktk_token& token) {
    return {config.bytes + token.offset, token.length};
}

/// False when something lies outside of the bytes.
bool read_tokens(const ktk_config& config, std::vector<vocabulary_entry>& vocabulary,
                 std::vector<added_token>& added) {
    for (const ktk_token& t : std::span{config.vocabulary, config.vocabulary_count}) {
        if (!good_token(config, t, 0)) {
            return false;
        }
        vocabulary.push_back({t.id, content(config, t)});
    }
    for (const ktk_token& t : std::span{config.added, config.added_count}) {
        if (!good_token(config, t, KTK_SPECIAL | KTK_NORMALIZED | KTK_LSTRIP | KTK_RSTRIP)) {
            return false;
        }
        const auto has = [&t](std::uint32_t flag) { return (t.flags & flag) != 0; };
        added.push_back({t.id, content(config, t), has(KTK_SPECIAL), has(KTK_NORMALIZED), has(KTK_LSTRIP),
                         has(KTK_RSTRIP)});
    }
    return true;
}

} // namespace

extern "C" {

std::int32_t ktk_open(const ktk_config* config, ktk_tokenizer** out_tokenizer) {
    if (!good_config(config) || !writable(out_tokenizer)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        std::vector<vocabulary_entry> vocabulary;
        std::vector<added_token> added;
        if (!read_tokens(*config, vocabulary, added)) {
            return KVI_E_ARGUMENT;
        }
        std::vector<pattern> steps;
        for (const std::uint32_t step : std::span{config->steps, config->step_count}) {
            steps.push_back(static_cast<pattern>(step));
        }
        bpe_parts parts;
        parts.vocabulary = vocabulary;
        parts.merges = {reinterpret_cast<const merge*>(config->merges), config->merge_count};
        parts.added = added;
        parts.steps = steps;
        parts.before = {config->before, config->before_count};
        parts.behind = {config->behind, config->behind_count};
        parts.nfc = (config->flags & KTK_NFC) != 0;
        parts.ignore_merges = (config->flags & KTK_IGNORE_MERGES) != 0;
        auto made = bpe_tokenizer::make(parts);
        if (made == nullptr) {
            return KVI_E_ARGUMENT;
        }
        *out_tokenizer = new ktk_tokenizer{std::move(made)};
        return KVI_OK;
    });
}

std::int32_t ktk_close(ktk_tokenizer* tokenizer) {
    return guarded([&] {
        delete tokenizer;
        return KVI_OK;
    });
}

std::int32_t ktk_encode(const ktk_tokenizer* tokenizer, const std::uint8_t* text, std::uint64_t length,
                        std::uint32_t flags, std::uint32_t* out_ids, std::uint64_t capacity,
                        std::uint64_t* out_count) {
    if (tokenizer == nullptr || !readable(text, length) || length > KTK_MAX_TEXT ||
        (flags & ~(KTK_ADD_SPECIAL | KTK_PARSE_SPECIAL)) != 0 || !readable(out_ids, capacity) ||
        !writable(out_count)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        std::size_t count = 0;
        const encode_flags how{(flags & KTK_ADD_SPECIAL) != 0, (flags & KTK_PARSE_SPECIAL) != 0};
        switch (tokenizer->impl->encode({text, length}, how, {out_ids, capacity}, count)) {
        case bpe_tokenizer::outcome::not_text:
            return KVI_E_ARGUMENT;
        case bpe_tokenizer::outcome::no_room:
            return KVI_E_CAPACITY;
        case bpe_tokenizer::outcome::done:
            break;
        }
        *out_count = count;
        return KVI_OK;
    });
}

std::int32_t ktk_decode(const ktk_tokenizer* tokenizer, const std::uint32_t* ids, std::uint64_t count,
                        std::uint32_t flags, std::uint8_t* out_bytes, std::uint64_t capacity,
                        std::uint64_t* out_length) {
    if (tokenizer == nullptr || !readable(ids, count) || (flags & ~KTK_SKIP_SPECIAL) != 0 ||
        !readable(out_bytes, capacity) || !writable(out_length)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const std::optional<std::size_t> length =
            tokenizer->impl->decode({ids, count}, (flags & KTK_SKIP_SPECIAL) != 0, {out_bytes, capacity});
        if (!length) {
            return KVI_E_CAPACITY;
        }
        *out_length = *length;
        return KVI_OK;
    });
}

} // extern "C"
