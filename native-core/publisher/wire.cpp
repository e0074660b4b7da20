#include "publisher/wire.hpp"

#include <bit>
#include <cstddef>

namespace kvpub {
namespace {

template <typename T>
void put_big_endian(bytes& out, T value) {
    for (std::size_t i = sizeof(T); i-- > 0;) {
        out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
    }
}

void put_uint(bytes& out, std::uint64_t value) {
    if (value < 0x80) {
        out.push_back(static_cast<std::uint8_t>(value));
    } else if (value <= 0xff) {
        out.push_back(0xcc);
        out.push_back(static_cast<std::uint8_t>(value));
    } else if (value <= 0xffff) {
        out.push_back(0xcd);
        put_big_endian(out, static_cast<std::uint16_t>(value));
    } else if (value <= 0xffffffff) {
        out.push_back(0xce);
        put_big_endian(out, static_cast<std::uint32_t>(value));
    } else {
        out.push_back(0xcf);
        put_big_endian(out, value);
    }
}

/// Signed, as SGLang writes its ids; readers take the 64 bits. MessagePack has shorter forms for small ones.
void put_id(bytes& out, std::uint64_t id) {
    const auto value = static_cast<std::int64_t>(id);
    if (value >= 0) {
        put_uint(out, id);
    } else if (value >= -32) {
        out.push_back(static_cast<std::uint8_t>(id));
    } else if (value >= INT8_MIN) {
        out.push_back(0xd0);
        out.push_back(static_cast<std::uint8_t>(id));
    } else if (value >= INT16_MIN) {
        out.push_back(0xd1);
        put_big_endian(out, static_cast<std::uint16_t>(id));
    } else if (value >= INT32_MIN) {
        out.push_back(0xd2);
        put_big_endian(out, static_cast<std::uint32_t>(id));
    } else {
        out.push_back(0xd3);
        put_big_endian(out, id);
    }
}

void put_array(bytes& out, std::size_t n) {
    if (n < 16) {
        out.push_back(static_cast<std::uint8_t>(0x90 | n));
    } else if (n <= 0xffff) {
        out.push_back(0xdc);
        put_big_endian(out, static_cast<std::uint16_t>(n));
    } else {
        out.push_back(0xdd);
        put_big_endian(out, static_cast<std::uint32_t>(n));
    }
}

/// Up to 15 members.
void put_map(bytes& out, std::size_t n) {
    out.push_back(static_cast<std::uint8_t>(0x80 | n));
}

void put_text(bytes& out, std::string_view text) {
    if (text.size() < 32) {
        out.push_back(static_cast<std::uint8_t>(0xa0 | text.size()));
    } else if (text.size() <= 0xff) {
        out.push_back(0xd9);
        out.push_back(static_cast<std::uint8_t>(text.size()));
    } else {
        out.push_back(0xda);
        put_big_endian(out, static_cast<std::uint16_t>(text.size()));
    }
    out.insert(out.end(), text.begin(), text.end());
}

void put_nil(bytes& out) {
    out.push_back(0xc0);
}

void put_ids(bytes& out, std::span<const std::uint64_t> ids) {
    put_text(out, "block_hashes");
    put_array(out, ids.size());
    for (const std::uint64_t id : ids) {
        put_id(out, id);
    }
}

} // namespace

void put_stored(bytes& out, const stored_blocks& blocks) {
    out.reserve(out.size() + 160 + 9 * blocks.ids.size() + 5 * blocks.tokens.size());
    put_map(out, 7u + (blocks.salt.empty() ? 0u : 1u) + (blocks.lora.empty() ? 0u : 1u));
    put_text(out, "type");
    put_text(out, "BlockStored");
    put_ids(out, blocks.ids);
    put_text(out, "parent_block_hash");
    if (blocks.parent) {
        put_id(out, *blocks.parent);
    } else {
        put_nil(out);
    }
    put_text(out, "token_ids");
    put_array(out, blocks.tokens.size());
    for (const std::uint32_t token : blocks.tokens) {
        put_uint(out, token);
    }
    put_text(out, "block_size");
    put_uint(out, blocks.block_size);
    put_text(out, "lora_id");
    put_nil(out);
    put_text(out, "medium");
    put_text(out, blocks.medium);
    if (!blocks.salt.empty()) {
        put_text(out, "cache_salt");
        put_text(out, blocks.salt);
    }
    if (!blocks.lora.empty()) {
        put_text(out, "lora_name");
        put_text(out, blocks.lora);
    }
}

void put_removed(bytes& out, std::span<const std::uint64_t> ids, std::string_view medium) {
    put_map(out, 3);
    put_text(out, "type");
    put_text(out, "BlockRemoved");
    put_ids(out, ids);
    put_text(out, "medium");
    put_text(out, medium);
}

void put_cleared(bytes& out) {
    put_map(out, 1);
    put_text(out, "type");
    put_text(out, "AllBlocksCleared");
}

bytes batch_of(double seconds, std::uint32_t count, std::span<const std::uint8_t> events, std::uint32_t rank) {
    bytes out;
    out.reserve(events.size() + 24);
    put_array(out, 3);
    out.push_back(0xcb);
    put_big_endian(out, std::bit_cast<std::uint64_t>(seconds));
    put_array(out, count);
    out.insert(out.end(), events.begin(), events.end());
    put_uint(out, rank);
    return out;
}

bool is_utf8(std::string_view text) {
    const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
    for (std::size_t i = 0; i < text.size();) {
        const std::uint8_t lead = at(i);
        if (lead < 0x80) {
            i++;
            continue;
        }
        const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
        if (lead < 0xc2 || lead > 0xf4 || i + length > text.size()) {
            return false;
        }
        const std::uint8_t second = at(i + 1);
        // Longer than needed, a surrogate, or past the last code point: told by the second byte.
        if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
            (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
            return false;
        }
        for (std::size_t k = 1; k < length; k++) {
            if ((at(i + k) & 0xc0) != 0x80) {
                return false;
            }
        }
        i += length;
    }
    return true;
}

} // namespace kvpub
