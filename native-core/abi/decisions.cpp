/// The C ABI of approximate slots: checks, translates, and does nothing else.
#include "abi/guard.hpp"

using kvindex::abi::guarded;
using kvindex::abi::readable;
using kvindex::abi::writable;

extern "C" {

std::int32_t kvi_slot_open_approximate(kvi_index* index, std::uint32_t domain, std::uint32_t name_space,
                                       std::uint32_t* out_slot) {
    if (index == nullptr || domain >= KVI_MAX_DOMAINS || name_space >= KVI_MAX_NAME_SPACES ||
        !writable(out_slot)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const auto slot = index->impl.open_approximate_slot(domain, static_cast<std::uint16_t>(name_space));
        if (!slot) {
            return KVI_E_FULL;
        }
        *out_slot = static_cast<std::uint32_t>(*slot);
        return KVI_OK;
    });
}

std::int32_t kvi_decide(kvi_index* index, std::uint32_t slot, const std::uint64_t* locals, std::uint32_t count,
                        std::uint64_t now_ms, std::uint64_t* out_new_blocks) {
    if (index == nullptr || !readable(locals, count) || count > KVI_MAX_BLOCKS || !writable(out_new_blocks)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const auto fresh = index->impl.decide(kvindex::slot_id{slot}, {locals, count}, now_ms);
        if (!fresh) {
            return KVI_E_SLOT;
        }
        *out_new_blocks = *fresh;
        return KVI_OK;
    });
}

std::int32_t kvi_expire(kvi_index* index, std::uint64_t now_ms, std::uint64_t* out_ended) {
    if (index == nullptr || !writable(out_ended)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        *out_ended = index->impl.expire(now_ms);
        return KVI_OK;
    });
}

} // extern "C"
