// reprise: a function that GPUs approximate
extern "C" __global__ void exponential(float *x) { x[threadIdx.x] = __expf(x[threadIdx.x]); }
