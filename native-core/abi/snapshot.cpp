/// The C ABI of saving and loading: checks, translates, and does nothing else.
#include "abi/guard.hpp"

#include <algorithm>
#include <vector>

namespace {

using kvindex::abi::guarded;
using kvindex::abi::readable;
using kvindex::abi::writable;

/// As much as fits, and the end.
void say(const std::string& text, char* message, std::uint32_t capacity) {
    if (capacity != 0) {
        const std::size_t n = std::min<std::size_t>(text.size(), capacity - 1);
        std::copy_n(text.data(), n, message);
        message[n] = 0;
    }
}

std::int32_t status_of(kvindex::snapshot_status status) {
    switch (status) {
    case kvindex::snapshot_status::ok:
        return std::int32_t{KVI_OK};
    case kvindex::snapshot_status::damaged:
        return KVI_E_DAMAGED;
    case kvindex::snapshot_status::in_use:
        return KVI_E_ARGUMENT;
    case kvindex::snapshot_status::no_room:
        return KVI_E_CAPACITY;
    case kvindex::snapshot_status::failed:
        return KVI_E_IO;
    }
    return KVI_E_INTERNAL;
}

bool good_path(const char* path) {
    return path != nullptr && *path != 0;
}

kvi_snapshot_info info_of(const kvindex::snapshot_report& r) {
    return {.bytes = r.bytes,
            .runs = r.runs,
            .dropped_runs = r.dropped_runs,
            .dropped_names = r.dropped_names,
            .longest_hold = r.longest_hold,
            .watermarks = static_cast<std::uint32_t>(r.watermarks.size()),
            .slots = static_cast<std::uint32_t>(r.slots.size())};
}

} // namespace

extern "C" {

std::int32_t kvi_snapshot_save(const kvi_index* index, const char* path, const kvi_watermark* watermarks,
                               std::uint32_t watermark_count, const kvi_snapshot_slot* slots,
                               std::uint32_t slot_count, kvi_snapshot_info* out, char* message,
                               std::uint32_t message_capacity) {
    if (index == nullptr || !good_path(path) || !readable(watermarks, watermark_count) ||
        watermark_count > KVI_MAX_WATERMARKS || !readable(slots, slot_count) || slot_count > KVI_MAX_SLOTS ||
        !writable(out) || !readable(message, message_capacity)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        std::vector<kvindex::slot_label> labels;
        for (const kvi_snapshot_slot& s : std::span(slots, slot_count)) {
            labels.push_back({kvindex::slot_id{s.slot}, s.rank, s.worker});
        }
        std::vector<kvindex::watermark> marks;
        for (const kvi_watermark& w : std::span(watermarks, watermark_count)) {
            marks.push_back({w.source, w.sequence});
        }
        const kvindex::snapshot_report report = index->impl.save(path, marks, labels);
        if (report.status == kvindex::snapshot_status::ok) {
            *out = info_of(report);
        } else {
            say(report.message, message, message_capacity);
        }
        return status_of(report.status);
    });
}

std::int32_t kvi_snapshot_load(kvi_index* index, const char* path, kvi_watermark* out_watermarks,
                               std::uint32_t watermark_capacity, kvi_snapshot_slot* out_slots,
                               std::uint32_t slot_capacity, kvi_snapshot_info* out, char* message,
                               std::uint32_t message_capacity) {
    if (index == nullptr || !good_path(path) || !readable(out_watermarks, watermark_capacity) ||
        !readable(out_slots, slot_capacity) || !writable(out) || !readable(message, message_capacity)) {
        return KVI_E_ARGUMENT;
    }
    return guarded([&] {
        const kvindex::snapshot_report report = index->impl.load(path, {watermark_capacity, slot_capacity});
        if (report.status != kvindex::snapshot_status::ok) {
            say(report.message, message, message_capacity);
            return status_of(report.status);
        }
        for (const kvindex::watermark& w : report.watermarks) {
            *out_watermarks++ = {.source = w.source, .sequence = w.sequence};
        }
        for (const kvindex::restored_slot& s : report.slots) {
            *out_slots++ = {.slot = static_cast<std::uint32_t>(s.slot),
                            .domain = s.domain,
                            .name_space = s.name_space,
                            .rank = s.rank,
                            .worker = s.worker};
        }
        *out = info_of(report);
        return std::int32_t{KVI_OK};
    });
}

} // extern "C"
