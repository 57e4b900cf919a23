#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#include <signal.h>
#endif

namespace h3n {

namespace {

constexpr std::size_t MOST_THREADS = 64;
constexpr std::chrono::seconds IDLE{1};

}  // namespace

struct Help::Job {
    std::function<void()> work;
    std::size_t wanted;  // how many more may join
    std::size_t running;
};

struct Help::Pool {
    std::mutex lock;
    std::condition_variable asked, done;
    std::vector<Job*> jobs;
    std::size_t threads = 0;
};

// Never destroyed: threads may still wait in it when the process ends. A forked child has none of its parent's threads,
// and its locks may be held by one of them, so it gets a pool of its own.
Help::Pool& Help::pool() {
    static std::atomic<Pool*> current = [] {
#if defined(__unix__) || defined(__APPLE__)
        pthread_atfork(nullptr, nullptr, [] { current.store(new Pool); });
#endif
        return new Pool;
    }();
    return *current.load();
}

void Help::serve(Pool& pool) {
    std::unique_lock<std::mutex> lock(pool.lock);
    for (;;) {
        const auto open = [&] {
            return std::find_if(pool.jobs.begin(), pool.jobs.end(), [](const Job* job) { return job->wanted > 0; });
        };
        if (!pool.asked.wait_for(lock, IDLE, [&] { return open() != pool.jobs.end(); })) break;
        Job& job = **open();
        --job.wanted;
        ++job.running;
        lock.unlock();
        job.work();
        lock.lock();
        if (--job.running == 0) pool.done.notify_all();
    }
    --pool.threads;
}

// Signals are for the threads of the program, which may be waiting for them.
void Help::start_thread(Pool& pool) {
#if defined(__unix__) || defined(__APPLE__)
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
#endif
    try {
        std::thread(serve, std::ref(pool)).detach();
        ++pool.threads;
    } catch (const std::system_error&) {  // no more threads to be had: those there are do the work
    }
#if defined(__unix__) || defined(__APPLE__)
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
}

Help::Help(std::size_t helpers, std::function<void()> work) {
    if (helpers == 0) return;
    pool_ = &pool();
    job_ = new Job{std::move(work), helpers, 0};
    {
        const std::lock_guard<std::mutex> guard(pool_->lock);
        pool_->jobs.push_back(job_);
        std::size_t needed = 0;
        for (const Job* job : pool_->jobs) needed += job->wanted + job->running;
        for (std::size_t t = pool_->threads; t < std::min(needed, MOST_THREADS); ++t) start_thread(*pool_);
    }
    helpers == 1 ? pool_->asked.notify_one() : pool_->asked.notify_all();
}

Help::~Help() {
    finish([] {});
    delete job_;
}

void Help::finish(const std::function<void()>& meanwhile) {
    if (job_ == nullptr) return;
    std::unique_lock<std::mutex> lock(pool_->lock);
    pool_->jobs.erase(std::remove(pool_->jobs.begin(), pool_->jobs.end(), job_), pool_->jobs.end());
    const auto finished = [&] { return job_->running == 0; };
    while (!pool_->done.wait_for(lock, std::chrono::milliseconds(LOOK_UP_EVERY), finished)) {
        lock.unlock();
        meanwhile();
        lock.lock();
    }
}

}  // namespace h3n
