// Threads that stand ready between calls, since starting one takes as long as decoding a short sentence or two.
#pragma once

#include <cstddef>
#include <functional>

namespace h3n {

// A piece of work that other threads may join in. They do so as soon as they can, not before anybody waits for them: the
// caller is to do the work as well and to call `finish`, after which nobody joins any more.
//
// Threads that have had nothing to do for a second end. A forked child starts with none; they come when it asks for them.
class Help {
  public:
    // Up to `helpers` threads call `work`, which must not throw. Fewer if the system has no more to give.
    Help(std::size_t helpers, std::function<void()> work);
    ~Help();
    Help(const Help&) = delete;
    Help& operator=(const Help&) = delete;

    // Returns when all who joined are done; calls `meanwhile`, which must not throw, every now and then.
    void finish(const std::function<void()>& meanwhile);

  private:
    struct Job;
    struct Pool;
    static Pool& pool();
    static void serve(Pool& pool);
    static void start_thread(Pool& pool);
    Pool* pool_ = nullptr;
    Job* job_ = nullptr;
};

// How often something that waits or works for long looks up, in milliseconds.
constexpr int LOOK_UP_EVERY = 50;

}  // namespace h3n
