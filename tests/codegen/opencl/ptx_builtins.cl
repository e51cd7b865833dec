/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Defines what compile_dots.sh's programs call of OpenCL C's built-in functions, for PTX as clang makes it: a driver has a
 * library of them, and without one ptxas takes no program.
 */
#define F __attribute__((overloadable))

size_t F get_local_id(uint d) { return d ? __nvvm_read_ptx_sreg_tid_y() : __nvvm_read_ptx_sreg_tid_x(); }
size_t F get_group_id(uint d) { return d ? __nvvm_read_ptx_sreg_ctaid_y() : __nvvm_read_ptx_sreg_ctaid_x(); }
size_t F get_global_id(uint d)
{
    return get_local_id(d) + get_group_id(d) * (d ? __nvvm_read_ptx_sreg_ntid_y() : __nvvm_read_ptx_sreg_ntid_x());
}
void F barrier(cl_mem_fence_flags f) { __syncthreads(); }
int F min(int a, int b) { return a < b ? a : b; }
float F fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
float4 F fma(float4 a, float4 b, float4 c)
{
    return (float4)(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y), fma(a.z, b.z, c.z), fma(a.w, b.w, c.w));
}
float F convert_float(int a) { return (float)a; }
float4 F convert_float4(int4 a) { return __builtin_convertvector(a, float4); }
float4 F convert_float4(float4 a) { return a; }
float4 F vload4(size_t i, const float *p) { return (float4)(p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]); }
void F vstore4(float4 v, size_t i, float *p) { p[4 * i] = v.x, p[4 * i + 1] = v.y, p[4 * i + 2] = v.z, p[4 * i + 3] = v.w; }
void F vstore4(float4 v, size_t i, __global float *p) { p[4 * i] = v.x, p[4 * i + 1] = v.y, p[4 * i + 2] = v.z, p[4 * i + 3] = v.w; }

#undef F
