// Objects that other threads must leave alone while a kernel works on them without the interpreter.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <unordered_map>

namespace lessnaive {

// Holds an object, for reading or to change it, as long as it lives; throws if another thread's
// work forbids that. Made and destroyed with the interpreter held, which guards the table.
class InUse {
  public:
    enum class How { read, change };

    InUse(const void* object, How how) : object_(object), how_(how) {
        int64_t& readers = table()[object];
        if (readers < 0 || (how == How::change && readers > 0))
            throw std::runtime_error("another thread is at work on this object");
        readers = how == How::change ? -1 : readers + 1;
    }
    ~InUse() {
        if (object_ == nullptr) return;
        const auto found = table().find(object_);
        if (how_ == How::change || --found->second == 0) table().erase(found);
    }
    InUse(InUse&& other) noexcept : object_(other.object_), how_(other.how_) {
        other.object_ = nullptr;
    }
    InUse(const InUse&) = delete;
    InUse& operator=(const InUse&) = delete;
    InUse& operator=(InUse&&) = delete;

  private:
    // Negative while an object is changed, else the number of those that read it.
    static std::unordered_map<const void*, int64_t>& table() {
        static std::unordered_map<const void*, int64_t> in_use;
        return in_use;
    }

    const void* object_;
    How how_;
};

}  // namespace lessnaive
