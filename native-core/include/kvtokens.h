/*
 * kvtokens: byte-level byte-pair tokenizers, C ABI. Text to the ids that the reference gives, and back. Part of
 * libkvindex.so; KVI_ABI_VERSION covers it.
 *
 * Conventions: as in kvindex.h, its status values too. What is supported, and how it was checked:
 * src/docs/explanation/tokenizer.md. Threads: ktk_encode and ktk_decode from any thread at any time between
 * open and close, side by side; they share a mutex for the time of a push or a pop. ktk_close must not run
 * beside another call on the same handle. The tokenizer is immutable; what it remembers of words is bounded
 * (256 KB for each call that runs beside others).
 */
#ifndef WARMPATH_KVTOKENS_H
#define WARMPATH_KVTOKENS_H

#include "kvindex.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KTK_MAX_ID 0x1fffffu     /* a token id */
#define KTK_MAX_MERGES 0x3fffffu /* of one tokenizer */
#define KTK_MAX_TEXT 0x7fffffffu /* bytes of one text */
#define KTK_MAX_STEPS 16u        /* pre-tokenisers in a row */

/* ktk_config.flags */
#define KTK_NFC 1u           /* texts are brought into normal form C, of Unicode 9.0 */
#define KTK_IGNORE_MERGES 2u /* a piece that is a token is that token, whatever the merges say */

/* Pre-tokenisers; classes of characters are those of Unicode 16.0. */
#define KTK_GPT2 0u
#define KTK_LLAMA3 1u /* also GLM */
#define KTK_QWEN2 2u
#define KTK_QWEN35 3u
#define KTK_O200K 4u
#define KTK_TEKKEN 5u
#define KTK_THREE_DIGITS 6u /* these three: DeepSeek V3 */
#define KTK_CJK 7u
#define KTK_DEEPSEEK 8u

/* ktk_token.flags of added tokens */
#define KTK_SPECIAL 1u
#define KTK_NORMALIZED 2u /* looked for after the normaliser */
#define KTK_LSTRIP 4u
#define KTK_RSTRIP 8u

/* flags of ktk_encode */
#define KTK_ADD_SPECIAL 1u   /* what the model puts around a raw prompt */
#define KTK_PARSE_SPECIAL 2u /* special tokens written in the text are tokens */

#define KTK_UTF16 4u /* kvi_match_text only: the text is UTF-16 in the machine's order, 2-aligned */

/* flags of ktk_decode */
#define KTK_SKIP_SPECIAL 1u

typedef struct ktk_tokenizer ktk_tokenizer;

/* A token: `length` of the config's bytes from `offset` on, at least one. */
typedef struct ktk_token {
    uint64_t offset;
    uint32_t length;
    uint32_t id;    /* at most KTK_MAX_ID */
    uint32_t flags; /* added tokens: KTK_SPECIAL ...; of the vocabulary: 0 */
    uint32_t reserved;
} ktk_token;

/* left and right become result. */
typedef struct ktk_merge {
    uint32_t left;
    uint32_t right;
    uint32_t result;
} ktk_merge;

/* The block hashes of prompts' beginnings, see ktk_memory_open. */
typedef struct ktk_memory ktk_memory;

typedef struct ktk_memory_statistics {
    uint64_t pieces;
    uint64_t bytes;   /* of them all, about */
    uint64_t evicted; /* from here on: since it was opened */
    uint64_t found;
    uint64_t missed;
} ktk_memory_statistics;

/* What kvi_match_text is asked. */
typedef struct kvi_text_query {
    uint32_t size;  /* sizeof(kvi_text_query) of the caller */
    uint32_t flags; /* KTK_ADD_SPECIAL, KTK_PARSE_SPECIAL, KTK_UTF16 */
    const void* text;
    uint64_t length;   /* bytes, or units of UTF-16 */
    uint64_t seed;     /* see kvi_seed */
    uint64_t most_new; /* bytes of UTF-8 that may be tokenised; all: UINT64_MAX */
    uint32_t name_space;
    uint32_t block_size; /* tokens, 1..KVI_MAX_BLOCK_SIZE */
} kvi_text_query;

typedef struct kvi_text_found {
    uint64_t tokens;       /* of the text */
    uint64_t known_tokens; /* of these, remembered */
    uint64_t new_bytes;    /* tokenised now, or to be */
    uint32_t blocks;       /* complete ones: hashes written */
    uint32_t hits;         /* written */
    uint32_t too_much;     /* 1: more than most_new bytes are new. All but new_bytes is 0 then */
    uint32_t reserved;     /* 0 */
} kvi_text_found;

/* What a tokenizer is made of; nothing is kept after ktk_open. */
typedef struct ktk_config {
    uint32_t size;  /* sizeof(ktk_config) of the caller */
    uint32_t flags; /* KTK_NFC ... */
    const uint8_t* bytes;
    uint64_t byte_count;
    const ktk_token* vocabulary; /* bytes as they are, not their letters; all 256 single bytes are there */
    const ktk_token* added;
    const ktk_merge* merges; /* in rank order, no pair twice, of tokens of the vocabulary */
    const uint32_t* steps;   /* KTK_GPT2 ...; each cuts the pieces of the one before */
    const uint32_t* before;  /* ids put before a raw prompt */
    const uint32_t* behind;
    uint32_t vocabulary_count;
    uint32_t added_count;
    uint32_t merge_count;
    uint32_t step_count;
    uint32_t before_count;
    uint32_t behind_count;
} ktk_config;

/* Makes a tokenizer; KVI_E_ARGUMENT when the parts do not fit together. O(vocabulary + merges), some 0.2 s. */
int32_t ktk_open(const ktk_config* config, ktk_tokenizer** out_tokenizer);

/* Frees it. NULL is allowed. */
int32_t ktk_close(ktk_tokenizer* tokenizer);

/* The ids of a text. KVI_E_ARGUMENT when it is not UTF-8 (lone surrogates are not), KVI_E_CAPACITY when there
 * are more than `capacity` ids; ids already written mean nothing then. There are at most as many as bytes in
 * the normalised text (three times the text's, at most), and those put around it. O(length), length * log for a
 * piece without end. */
int32_t ktk_encode(const ktk_tokenizer* tokenizer, const uint8_t* text, uint64_t length, uint32_t flags,
                   uint32_t* out_ids, uint64_t capacity, uint64_t* out_count);

/* The bytes of the ids, which need not be UTF-8; an id that is no token has none. KVI_E_CAPACITY when there are
 * more than `capacity`. */
int32_t ktk_decode(const ktk_tokenizer* tokenizer, const uint32_t* ids, uint64_t count, uint32_t flags,
                   uint8_t* out_bytes, uint64_t capacity, uint64_t* out_length);

/* A memory of at most about `max_bytes`, for any number of tokenizers. Any thread, at any time between open and
 * close, side by side: 16 mutexes, each held for a look-up of some ten nanoseconds. Why a prompt's beginning
 * can be taken as it was, and what that rests on: src-cpp/tokens/prompt_memory.hpp. */
int32_t ktk_memory_open(uint64_t max_bytes, ktk_memory** out_memory);

/* Frees it, not beside another call that uses it. NULL is allowed. */
int32_t ktk_memory_close(ktk_memory* memory);

/* Counts of the memory. */
int32_t ktk_memory_stats(const ktk_memory* memory, ktk_memory_statistics* out);

/* Who holds how much of a text: tokenised, hashed block by block while ids are made, looked up, in one call.
 * Ids are kept nowhere; who needs them calls ktk_encode. `memory` (NULL: none) knows beginnings that were asked
 * for before and learns this one; they cost a hash over their text. `out_locals`: hashes of all complete
 * blocks; hits as of kvi_match_locals with these. KVI_E_ARGUMENT also when the text is not well formed,
 * KVI_E_CAPACITY when blocks or hits do not fit: what was written means nothing then, and asking again costs
 * little when there is a memory. When too much is new, nothing is tokenised and *out says so. Threads: as
 * kvi_match*, ktk_encode. O(length) and the look-up. */
int32_t kvi_match_text(const kvi_index* index, const ktk_tokenizer* tokenizer, ktk_memory* memory,
                       const kvi_text_query* query, uint64_t* out_locals, uint32_t local_capacity,
                       kvi_hit* out_hits, uint32_t hit_capacity, kvi_text_found* out);

#ifdef __cplusplus
} /* extern "C" */

static_assert(sizeof(ktk_token) == 24 && offsetof(ktk_token, flags) == 16, "ktk_token layout");
static_assert(sizeof(ktk_merge) == 12, "ktk_merge layout");
static_assert(sizeof(kvi_text_query) == 48 && offsetof(kvi_text_query, block_size) == 44,
              "kvi_text_query layout");
static_assert(sizeof(kvi_text_found) == 40 && offsetof(kvi_text_found, too_much) == 32,
              "kvi_text_found layout");
static_assert(sizeof(ktk_memory_statistics) == 40, "ktk_memory_statistics layout");
static_assert(sizeof(ktk_config) == 96 && offsetof(ktk_config, vocabulary_count) == 72, "ktk_config layout");
#endif

#endif
