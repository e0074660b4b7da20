/// The C ABI: checks and translates, nothing else.
#pragma GCC visibility push(default) // everything else in the library is hidden
#include "kvpublisher.h"
#pragma GCC visibility pop

#include "publisher/block_ids.hpp"
#include "publisher/service.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <optional>
#include <system_error>

struct kvp_publisher {
    kvpub::service impl;
};

namespace {

using kvpub::stored_blocks;

constexpr std::array<std::string_view, 4> media{"GPU", "CPU_PINNED", "DISK", "EXTERNAL"};

constexpr std::uint64_t default_bytes = std::uint64_t{256} << 20;
constexpr std::uint32_t default_batches = 10000;
constexpr std::uint32_t default_events = 64;
constexpr std::uint32_t most_events = 65536;
constexpr std::uint32_t most_linger_millis = 600000;

template <typename F>
std::int32_t guarded(F&& f) noexcept {
    try {
        return f();
    } catch (const std::bad_alloc&) {
        return KVP_E_MEMORY;
    } catch (...) {
        return KVP_E_INTERNAL;
    }
}

/// Empty when there is none; nothing when it is too long or not UTF-8.
std::optional<std::string_view> text(const char* pointer) {
    if (pointer == nullptr) {
        return std::string_view{};
    }
    const std::string_view found(pointer, strnlen(pointer, KVP_MAX_TEXT + 1));
    if (found.size() > KVP_MAX_TEXT || !kvpub::is_utf8(found)) {
        return std::nullopt;
    }
    return found;
}

template <typename T>
bool readable(const T* pointer) {
    return pointer != nullptr && reinterpret_cast<std::uintptr_t>(pointer) % alignof(T) == 0;
}

bool names(std::span<const std::uint64_t> ids) {
    return std::ranges::find(ids, std::uint64_t{0}) == ids.end();
}

/// What `blocks` says, without ids; nothing when it makes no sense.
std::optional<stored_blocks> read(const kvp_blocks* blocks) {
    if (!readable(blocks) || blocks->size != sizeof(kvp_blocks) || blocks->count == 0 ||
        blocks->count > KVP_MAX_BLOCKS || blocks->block_size == 0 || blocks->block_size > KVP_MAX_BLOCK_SIZE ||
        std::uint64_t{blocks->count} * blocks->block_size > KVP_MAX_TOKENS || blocks->tier >= media.size() ||
        blocks->has_parent > 1 || blocks->reserved != 0 || (blocks->has_parent == 1) != (blocks->parent != 0) ||
        !readable(blocks->tokens)) {
        return std::nullopt;
    }
    const std::optional<std::string_view> lora = text(blocks->lora);
    const std::optional<std::string_view> salt = text(blocks->salt);
    if (!lora || !salt) {
        return std::nullopt;
    }
    stored_blocks out;
    if (blocks->has_parent == 1) {
        out.parent = blocks->parent;
    }
    out.tokens = {blocks->tokens, std::size_t{blocks->count} * blocks->block_size};
    out.block_size = blocks->block_size;
    out.medium = media[blocks->tier];
    out.lora = *lora;
    out.salt = *salt;
    return out;
}

std::uint32_t or_default(std::uint32_t value, std::uint32_t otherwise) {
    return value == 0 ? otherwise : value;
}

std::optional<kvpub::service::settings> read(const kvp_options* options) {
    if (!readable(options) || options->size != sizeof(kvp_options) || options->reserved != 0) {
        return std::nullopt;
    }
    const std::optional<std::string_view> endpoint = text(options->endpoint);
    const std::optional<std::string_view> replay = text(options->replay_endpoint);
    const std::optional<std::string_view> topic = text(options->topic);
    kvpub::service::settings out;
    out.kept.batches = or_default(options->replay_batches, default_batches);
    out.kept.bytes = options->replay_bytes == 0 ? default_bytes : options->replay_bytes;
    out.kept.events = or_default(options->batch_events, default_events);
    out.queue_batches = or_default(options->queue_batches, out.kept.batches);
    out.rank = options->dp_rank;
    if (!endpoint || !replay || !topic || out.kept.batches > KVP_MAX_BATCHES || out.kept.events > most_events ||
        out.rank > INT32_MAX) {
        return std::nullopt;
    }
    out.endpoint = endpoint->empty() ? "tcp://0.0.0.0:5557" : *endpoint;
    out.replay_endpoint = options->replay_endpoint == nullptr ? "tcp://0.0.0.0:5558" : *replay;
    out.topic = *topic;
    return out;
}

} // namespace

extern "C" {

int32_t kvp_abi_version(uint32_t* out_version) {
    if (!readable(out_version)) {
        return KVP_E_ARGUMENT;
    }
    *out_version = KVP_ABI_VERSION;
    return KVP_OK;
}

int32_t kvp_create(const kvp_options* options, kvp_publisher** out) {
    return guarded([&]() -> std::int32_t {
        if (!readable(out)) {
            return KVP_E_ARGUMENT;
        }
        const std::optional<kvpub::service::settings> settings = read(options);
        if (!settings) {
            return KVP_E_ARGUMENT;
        }
        try {
            *out = new kvp_publisher{kvpub::service(*settings)};
            return KVP_OK;
        } catch (const kvpub::address_error& e) {
            errno = e.code().value();
            return KVP_E_ADDRESS;
        }
    });
}

int32_t kvp_block_ids(const kvp_blocks* blocks, uint64_t* out_ids) {
    return guarded([&]() -> std::int32_t {
        const std::optional<stored_blocks> told = read(blocks);
        if (!told || !readable(out_ids)) {
            return KVP_E_ARGUMENT;
        }
        kvpub::block_ids(*told, {out_ids, blocks->count});
        return KVP_OK;
    });
}

int32_t kvp_stored(kvp_publisher* publisher, const kvp_blocks* blocks, uint64_t* out_ids) {
    return guarded([&]() -> std::int32_t {
        std::optional<stored_blocks> told = read(blocks);
        if (publisher == nullptr || !told || (out_ids != nullptr && !readable(out_ids))) {
            return KVP_E_ARGUMENT;
        }
        std::vector<std::uint64_t> made;
        if (blocks->ids == nullptr) {
            made.resize(blocks->count);
            kvpub::block_ids(*told, made);
            told->ids = made;
        } else if (!readable(blocks->ids) || !names({blocks->ids, blocks->count})) {
            return KVP_E_ARGUMENT;
        } else {
            told->ids = {blocks->ids, blocks->count};
        }
        publisher->impl.append([&](kvpub::bytes& out) { kvpub::put_stored(out, *told); });
        if (out_ids != nullptr) {
            std::ranges::copy(told->ids, out_ids);
        }
        return KVP_OK;
    });
}

int32_t kvp_removed(kvp_publisher* publisher, const uint64_t* ids, uint32_t count, uint32_t tier) {
    return guarded([&]() -> std::int32_t {
        if (publisher == nullptr || !readable(ids) || count == 0 || count > KVP_MAX_BLOCKS ||
            tier >= media.size() || !names({ids, count})) {
            return KVP_E_ARGUMENT;
        }
        publisher->impl.append([&](kvpub::bytes& out) { kvpub::put_removed(out, {ids, count}, media[tier]); });
        return KVP_OK;
    });
}

int32_t kvp_cleared(kvp_publisher* publisher) {
    return guarded([&]() -> std::int32_t {
        if (publisher == nullptr) {
            return KVP_E_ARGUMENT;
        }
        publisher->impl.append([](kvpub::bytes& out) { kvpub::put_cleared(out); });
        return KVP_OK;
    });
}

int32_t kvp_stats(kvp_publisher* publisher, kvp_statistics* out, uint32_t size) {
    return guarded([&]() -> std::int32_t {
        if (publisher == nullptr || !readable(out) || size != sizeof(kvp_statistics)) {
            return KVP_E_ARGUMENT;
        }
        const kvpub::service::state now = publisher->impl.stats();
        *out = {.events = now.log.events,
                .batches = now.log.end,
                .dropped_batches = now.counts.dropped_batches,
                .lost_events = now.log.lost_events,
                .kept_batches = now.log.kept,
                .kept_bytes = now.log.kept_bytes,
                .replays = now.counts.replays,
                .replayed_batches = now.counts.replayed_batches,
                .subscribers = now.subscribers,
                .port = now.port,
                .replay_port = now.replay_port};
        return KVP_OK;
    });
}

int32_t kvp_close(kvp_publisher* publisher, uint32_t linger_millis) {
    return guarded([&]() -> std::int32_t {
        if (publisher == nullptr) {
            return KVP_E_ARGUMENT;
        }
        publisher->impl.stop(std::chrono::milliseconds(std::min(linger_millis, most_linger_millis)));
        delete publisher;
        return KVP_OK;
    });
}

} // extern "C"
