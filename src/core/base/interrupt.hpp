// Long loops can be stopped from outside. The kernels know nothing of Python: a binding tells how
// to ask, and loops that may take longer than a second call poll() now and then.
#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <vector>

namespace lessnaive {

// Thrown by poll() when the work is to be given up.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "stopped"; }
};

// What can be stopped: the work that one thread started, with all threads that take part in it.
class Work {
  public:
    using Ask = bool (*)();  // whether to stop; only the thread that started the work asks

    explicit Work(Ask ask) : ask_(ask), next_(now() + kEvery) {}
    Work(const Work&) = delete;
    Work& operator=(const Work&) = delete;

    bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }

    void poll(bool may_ask) {
        if (may_ask && now() >= next_) {
            if (ask_()) stopped_.store(true, std::memory_order_relaxed);
            next_ = now() + kEvery;
        }
        if (is_stopped()) throw Stopped();
    }

    // The work that this thread takes part in, and whether it is the one that started it.
    struct Part {
        Work* work = nullptr;
        bool started = false;
    };
    static Part& here() {
        static thread_local Part part;
        return part;
    }

  private:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kEvery{100};
    static Clock::time_point now() { return Clock::now(); }

    Ask ask_;
    Clock::time_point next_;
    std::atomic<bool> stopped_{false};
};

// This thread takes part in some work as long as this lives.
class TakesPart {
  public:
    explicit TakesPart(Work::Part part) : before_(Work::here()) { Work::here() = part; }
    ~TakesPart() { Work::here() = before_; }
    TakesPart(const TakesPart&) = delete;
    TakesPart& operator=(const TakesPart&) = delete;

  private:
    Work::Part before_;
};

// What one thread puts up to stop the work of others, which heed it while they work for it.
class StopSign {
  public:
    void put_up() { up_->store(true, std::memory_order_relaxed); }
    void heed() const { heeded().push_back(up_); }
    void leave() const {
        if (!heeded().empty() && heeded().back() == up_) heeded().pop_back();
    }
    static bool is_up() {
        for (const Flag& up : heeded())
            if (up->load(std::memory_order_relaxed)) return true;
        return false;
    }

  private:
    using Flag = std::shared_ptr<std::atomic<bool>>;
    static std::vector<Flag>& heeded() {
        static thread_local std::vector<Flag> flags;
        return flags;
    }
    Flag up_ = std::make_shared<std::atomic<bool>>(false);
};

// Throws Stopped if the work is to be given up. It costs as much as a look at the clock.
inline void poll() {
    const Work::Part part = Work::here();
    if (part.work != nullptr) part.work->poll(part.started);
}

}  // namespace lessnaive
