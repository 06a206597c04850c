/* Written by crates/engine/src/queue/buffer_sharing/linux.rs from the engine's constants. */
#define SHARING_LEAST_PROBABILITY 0.001
#define SHARING_GAIN 0.7404804896930609
#define SHARING_SLOW_GAIN 1.0471975511965976
