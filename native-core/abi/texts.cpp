/// The C ABI of texts that are looked up: checks, translates, and does nothing else.
#include "abi/tokens.hpp"

#include "kvindex/texts.hpp"

#include <algorithm>
#include <cstddef>

namespace {

using kvindex::abi::guarded;
using kvindex::abi::readable;
using kvindex::abi::writable;
using namespace kvindex::tokens;

static_assert(sizeof(kvindex::hit) == sizeof(kvi_hit) && alignof(kvindex::hit) == alignof(kvi_hit));
static_assert(sizeof(kvindex::local_hash) == sizeof(std::uint64_t));

bool good_query(const kvi_text_query* q) {
    return q != nullptr && readable(q, 1) && q->size == sizeof *q &&
           (q->flags & ~(KTK_ADD_SPECIAL | KTK_PARSE_SPECIAL | KTK_UTF16)) == 0 &&
           ((q->flags & KTK_UTF16) == 0 ? readable(static_cast<const std::uint8_t*>(q->text), q->length)
                                        : readable(static_cast<const std::uint16_t*>(q->text), q->length)) &&
           q->length <= KTK_MAX_TEXT && q->name_space < KVI_MAX_NAME_SPACES && q->block_size >= 1 &&
           q->block_size <= KVI_MAX_BLOCK_SIZE;
}

} // namespace

extern "C" {

std::int32_t ktk_memory_open(std::uint64_t max_bytes, ktk_memory** out_memory) {
    if (!writable(out_memory)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        *out_memory = new ktk_memory{prompt_memory(max_bytes)};
        return KVI_OK;
    });
}

std::int32_t ktk_memory_close(ktk_memory* memory) {
    return guarded([&] {
        delete memory;
        return KVI_OK;
    });
}

std::int32_t ktk_memory_stats(const ktk_memory* memory, ktk_memory_statistics* out) {
    if (memory == nullptr || !writable(out)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const prompt_memory::statistics s = memory->impl.stats();
        *out = {
            .pieces = s.pieces, .bytes = s.bytes, .evicted = s.evicted, .found = s.found, .missed = s.missed};
        return KVI_OK;
    });
}

std::int32_t kvi_match_text(const kvi_index* index, const ktk_tokenizer* tokenizer, ktk_memory* memory,
                            const kvi_text_query* query, std::uint64_t* out_locals,
                            std::uint32_t local_capacity, kvi_hit* out_hits, std::uint32_t hit_capacity,
                            kvi_text_found* out) {
    if (index == nullptr || tokenizer == nullptr || !good_query(query) ||
        !readable(out_locals, local_capacity) || !readable(out_hits, hit_capacity) || !writable(out)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const kvindex::text_query asked{
            .how = {.flags = {(query->flags & KTK_ADD_SPECIAL) != 0, (query->flags & KTK_PARSE_SPECIAL) != 0},
                    .block_size = query->block_size,
                    .seed = query->seed,
                    .most_new = query->most_new},
            .name_space = static_cast<std::uint16_t>(query->name_space)};
        const auto match = [&](auto text) {
            return kvindex::match_text(index->impl, *tokenizer->impl,
                                       memory == nullptr ? nullptr : &memory->impl, text, asked,
                                       {out_locals, std::min(local_capacity, KVI_MAX_BLOCKS)},
                                       {reinterpret_cast<kvindex::hit*>(out_hits), hit_capacity});
        };
        const kvindex::text_match found =
            (query->flags & KTK_UTF16) == 0
                ? match(bytes{static_cast<const std::uint8_t*>(query->text), query->length})
                : match(std::span{static_cast<const std::uint16_t*>(query->text), query->length});
        if (!found.is_text) {
            return KVI_E_ARGUMENT;
        }
        if (!found.fits) {
            return KVI_E_CAPACITY;
        }
        *out = {.tokens = found.text.tokens,
                .known_tokens = found.text.too_much ? 0 : found.text.known_tokens,
                .new_bytes = found.text.new_bytes,
                .blocks = found.blocks,
                .hits = found.hits,
                .too_much = found.text.too_much ? 1u : 0u,
                .reserved = 0};
        return KVI_OK;
    });
}

} // extern "C"
