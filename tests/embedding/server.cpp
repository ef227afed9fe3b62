// A program with an interpreter inside, as servers with a Python backend are: eight threads make
// plans, run them without the GIL, also on shares of one array, and compare. Prints the casts done.
#include <Python.h>
#include <lutcast.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

const lutcast_api *lutcast;
std::atomic<long> casts{0}, failures{0};

constexpr size_t kElements = 20000;
constexpr int kThreads = 8;

void check(bool good)
{
    if (!good)
        failures++;
}

// Every thread makes plans of its own between formats of its own, some for the first time in the process.
void make_and_run(int number, int rounds, const std::vector<float> &x)
{
    std::vector<unsigned char> narrow(kElements * 8), again(kElements * 8);
    for (int round = 0; round < rounds; round++) {
        const lutcast_format dst = LUTCAST_FLOAT4_E2M1FN + (number + round) % 15;
        const lutcast_rounding rounding = LUTCAST_TIES_TO_EVEN + round % 7;
        lutcast_plan *plan = nullptr;
        if (lutcast->plan_create(&plan, LUTCAST_FLOAT32, dst, rounding, LUTCAST_SATURATE, LUTCAST_NAN_KEEP) != LUTCAST_OK) {
            failures++;
            continue;
        }
        const size_t bytes = kElements * lutcast->format_itemsize(dst);
        check(lutcast->plan_run(plan, x.data(), narrow.data(), kElements) == LUTCAST_OK);
        for (size_t start = 0; start < kElements; start += 777) {
            const size_t n = kElements - start < 777 ? kElements - start : 777;
            check(lutcast->plan_run(
                      plan, x.data() + start, again.data() + start * lutcast->format_itemsize(dst), n) == LUTCAST_OK);
        }
        check(std::memcmp(narrow.data(), again.data(), bytes) == 0);
        lutcast->plan_destroy(plan);
        casts += 2;
    }
}

// All threads run one plan into shares of one array.
void run_shares(const lutcast_plan *plan, int number, const std::vector<float> &x, std::vector<unsigned short> &y)
{
    const size_t share = kElements / kThreads;
    check(lutcast->plan_run(plan, x.data() + number * share, y.data() + number * share, share) == LUTCAST_OK);
    casts++;
}

}  // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::fprintf(stderr, "usage: %s PYTHON ROUNDS\n", argv[0]);
        return 2;
    }
    const int rounds = std::atoi(argv[2]);
    // The interpreter of this path says where packages are, also that of a virtual environment.
    PyConfig config;
    PyConfig_InitIsolatedConfig(&config);
    PyConfig_SetBytesString(&config, &config.program_name, argv[1]);
    const PyStatus started = Py_InitializeFromConfig(&config);
    PyConfig_Clear(&config);
    if (PyStatus_Exception(started))
        Py_ExitStatusException(started);
    lutcast = lutcast_import();
    if (lutcast == nullptr) {
        PyErr_Print();
        return 2;
    }
    std::vector<float> x(kElements);
    unsigned state = 1;
    for (float &value : x) {
        state = state * 1664525u + 1013904223u;
        std::memcpy(&value, &state, sizeof value);
    }
    lutcast_plan *shared = nullptr;
    if (lutcast->plan_create(&shared, LUTCAST_FLOAT32, LUTCAST_BFLOAT16, 0, 0, 0) != LUTCAST_OK)
        return 3;
    std::vector<unsigned short> whole(kElements), shares(kElements);
    check(lutcast->plan_run(shared, x.data(), whole.data(), kElements) == LUTCAST_OK);

    PyThreadState *main_thread = PyEval_SaveThread();
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++)
        threads.emplace_back([&, i] {
            make_and_run(i, rounds, x);
            run_shares(shared, i, x, shares);
        });
    for (std::thread &thread : threads)
        thread.join();
    PyEval_RestoreThread(main_thread);

    check(whole == shares);
    lutcast->plan_destroy(shared);
    std::printf("%ld casts, %ld failures\n", casts.load(), failures.load());
    if (Py_FinalizeEx() < 0)
        return 4;
    return failures == 0 ? 0 : 1;
}
