%struct.code_class = type { i32, i32, i32, i32, i32 }
%struct.webnn_rt_program = type { i32, i32, ptr, ptr, i32, ptr, i32 }
%struct.job = type { ptr, ptr, ptr, ptr, i32 }
%struct.webnn_object_parallel = type { i32, ptr, ptr }
%struct.webnn_rt_options = type { i32, ptr }
%struct.webnn_object_options = type { i32, i32, ptr }
%struct.kernel_args = type { ptr, ptr, ptr }
@weights = internal global ptr null
@levels_found = internal global i32 0
define i32 @set_weights(ptr %0, i32 %1) minsize optsize {
  %3 = icmp ne ptr %0, null
  br i1 %3, label %4, label %24
4:
  %5 = load i32, ptr @constants_bytes
  %6 = add i32 64, %5
  %7 = icmp ne i32 %1, %6
  %8 = ptrtoint ptr %0 to i32
  %9 = and i32 %8, 63
  %10 = icmp ne i32 %9, 0
  %or.cond = or i1 %7, %10
  br i1 %or.cond, label %24, label %11
11:
  %.011 = phi i32 [ %20, %19 ], [ 0, %4 ]
  %12 = icmp ult i32 %.011, 3
  br i1 %12, label %13, label %21
13:
  %14 = getelementptr inbounds i64, ptr %0, i32 %.011
  %15 = load i64, ptr %14
  %16 = getelementptr inbounds [3 x i64], ptr @weights_header, i32 0, i32 %.011
  %17 = load i64, ptr %16
  %18 = icmp ne i64 %15, %17
  br i1 %18, label %24, label %19
19:
  %20 = add i32 %.011, 1
  br label %11
21:
  %22 = getelementptr inbounds i8, ptr %0, i32 64
  %23 = ptrtoint ptr %22 to i32
  store atomic i32 %23, ptr @weights release, align 4
  br label %24
24:
  %.0 = phi i32 [ 0, %21 ], [ 3, %4 ], [ 3, %2 ], [ 3, %13 ]
  ret i32 %.0
}
define i32 @load_weights(ptr %0) minsize optsize {
  %2 = icmp ne ptr %0, null
  %3 = load ptr, ptr @weights_path
  %4 = select i1 %2, ptr %0, ptr %3
  %5 = call i32 (ptr, i32, ...) @open(ptr %4, i32 0)
  %6 = icmp slt i32 %5, 0
  br i1 %6, label %17, label %7
7:
  %8 = call i32 @lseek(i32 %5, i32 0, i32 2)
  %9 = call ptr @mmap(ptr null, i32 %8, i32 1, i32 2, i32 %5, i32 0)
  %10 = call i32 @close(i32 %5)
  %11 = icmp eq ptr %9, inttoptr (i32 -1 to ptr)
  br i1 %11, label %17, label %12
12:
  %13 = call i32 @set_weights(ptr %9, i32 %8)
  %14 = icmp ne i32 %13, 0
  br i1 %14, label %15, label %17
15:
  %16 = call i32 @munmap(ptr %9, i32 %8)
  br label %17
17:
  %.0 = phi i32 [ 3, %1 ], [ 3, %7 ], [ %13, %15 ], [ %13, %12 ]
  ret i32 %.0
}
declare i32 @open(ptr, i32, ...)
declare i32 @lseek(i32, i32, i32)
declare ptr @mmap(ptr, i32, i32, i32, i32, i32)
declare i32 @close(i32)
declare i32 @munmap(ptr, i32)
define i32 @workspace_size(i32 %0) minsize optsize {
  %2 = load i32, ptr @fixed_bytes
  %3 = icmp ne i32 %0, 0
  %. = select i1 %3, i32 %0, i32 1
  %4 = load i32, ptr @thread_bytes
  %5 = mul i32 %., %4
  %6 = add i32 %2, %5
  ret i32 %6
}
define i32 @run_in(ptr %0, ptr %1, ptr %2, ptr %3) minsize optsize {
  %5 = alloca %struct.job
  %6 = icmp ne ptr %0, null
  br i1 %6, label %7, label %.critedge
7:
  %.0283 = phi i32 [ %16, %15 ], [ 0, %4 ]
  %8 = load i32, ptr @binding_count
  %9 = icmp ult i32 %.0283, %8
  br i1 %9, label %10, label %17
10:
  %11 = add i32 2, %.0283
  %12 = getelementptr inbounds ptr, ptr %3, i32 %11
  %13 = load ptr, ptr %12
  %14 = icmp ne ptr %13, null
  br i1 %14, label %15, label %.critedge
15:
  %16 = add i32 %.0283, 1
  br label %7
17:
  %.0336 = phi i32 [ %45, %43 ], [ 0, %7 ]
  %.0295 = phi ptr [ %46, %43 ], [ @size_values, %7 ]
  %.0294 = phi i32 [ %47, %43 ], [ 0, %7 ]
  %18 = load i32, ptr @size_count
  %19 = icmp ult i32 %.0294, %18
  br i1 %19, label %20, label %48
20:
  %21 = getelementptr inbounds [0 x i32], ptr @size_counts, i32 0, i32 %.0294
  %22 = load i32, ptr %21
  br label %23
23:
  %.0292 = phi i32 [ 0, %20 ], [ %.1293, %25 ]
  %.0290 = phi i32 [ %22, %20 ], [ %.1291, %25 ]
  %24 = icmp ult i32 %.0292, %.0290
  br i1 %24, label %25, label %34
25:
  %26 = add i32 %.0292, %.0290
  %27 = udiv i32 %26, 2
  %28 = getelementptr inbounds i32, ptr %.0295, i32 %27
  %29 = load i32, ptr %28
  %30 = getelementptr inbounds i32, ptr %2, i32 %.0294
  %31 = load i32, ptr %30
  %32 = icmp ult i32 %29, %31
  %33 = add i32 %27, 1
  %.1293 = select i1 %32, i32 %33, i32 %.0292
  %.1291 = select i1 %32, i32 %.0290, i32 %27
  br label %23
34:
  %35 = load i32, ptr %21
  %36 = icmp eq i32 %.0292, %35
  br i1 %36, label %.critedge, label %37
37:
  %38 = getelementptr inbounds i32, ptr %.0295, i32 %.0292
  %39 = load i32, ptr %38
  %40 = getelementptr inbounds i32, ptr %2, i32 %.0294
  %41 = load i32, ptr %40
  %42 = icmp ne i32 %39, %41
  br i1 %42, label %.critedge, label %43
43:
  %44 = mul i32 %.0336, %35
  %45 = add i32 %44, %.0292
  %46 = getelementptr inbounds i32, ptr %.0295, i32 %35
  %47 = add i32 %.0294, 1
  br label %17
48:
  %49 = ptrtoint ptr %0 to i32
  %50 = sub i32 0, %49
  %51 = and i32 %50, 63
  %52 = getelementptr inbounds i8, ptr %0, i32 %51
  store ptr %52, ptr %3
  %53 = load i32, ptr @constants_bytes
  %54 = icmp ne i32 %53, 0
  br i1 %54, label %55, label %73
55:
  %56 = load ptr, ptr @embedded
  %57 = icmp ne ptr %56, null
  br i1 %57, label %70, label %58
58:
  %59 = load atomic i32, ptr @weights acquire, align 4
  %60 = inttoptr i32 %59 to ptr
  %61 = load i8, ptr @has_files
  %62 = trunc i8 %61 to i1
  %.not = xor i1 %62, true
  %63 = icmp ne ptr %60, null
  %or.cond = select i1 %.not, i1 true, i1 %63
  br i1 %or.cond, label %70, label %64
64:
  %65 = call i32 @load_weights(ptr null)
  %66 = icmp eq i32 %65, 0
  br i1 %66, label %67, label %70
67:
  %68 = load atomic i32, ptr @weights acquire, align 4
  %69 = inttoptr i32 %68 to ptr
  br label %70
70:
  %.0303 = phi ptr [ %56, %55 ], [ %69, %67 ], [ %60, %64 ], [ %60, %58 ]
  %71 = getelementptr inbounds ptr, ptr %3, i32 1
  store ptr %.0303, ptr %71
  %72 = icmp ne ptr %.0303, null
  br i1 %72, label %73, label %.critedge
73:
  %74 = load i32, ptr @level_count
  %75 = icmp eq i32 %74, 1
  br i1 %75, label %83, label %76
76:
  %77 = load atomic i32, ptr @levels_found monotonic, align 4
  %78 = icmp ne i32 %77, 0
  br i1 %78, label %81, label %79
79:
  %80 = call i32 @count_levels()
  store atomic i32 %80, ptr @levels_found monotonic, align 4
  br label %81
81:
  %.0305 = phi i32 [ %77, %76 ], [ %80, %79 ]
  %82 = sub i32 %.0305, 1
  br label %83
83:
  %.0304 = phi i32 [ %82, %81 ], [ 0, %73 ]
  %84 = load i32, ptr @variant_count
  %85 = mul i32 %.0304, %84
  %86 = add i32 %85, %.0336
  %87 = getelementptr inbounds [0 x i32], ptr @places, i32 0, i32 %86
  %88 = load i32, ptr %87
  %89 = lshr i32 %88, 14
  %90 = getelementptr inbounds [0 x %struct.code_class], ptr @classes, i32 0, i32 %89
  %91 = load ptr, ptr %3
  %92 = load i32, ptr @arena_bytes
  %93 = getelementptr inbounds i8, ptr %91, i32 %92
  %94 = load i32, ptr @size_count
  %95 = icmp ne i32 %94, 0
  br i1 %95, label %96, label %181
96:
  %97 = and i32 %88, 16383
  %98 = getelementptr inbounds %struct.code_class, ptr %90, i32 0, i32 3
  %99 = load i32, ptr %98
  %100 = getelementptr inbounds i64, ptr @numbers, i32 %99
  %101 = load i32, ptr %90
  %102 = getelementptr inbounds %struct.code_class, ptr %90, i32 0, i32 1
  %103 = load i32, ptr %102
  %104 = add i32 %101, %103
  %105 = load i8, ptr @has_wide
  %106 = trunc i8 %105 to i1
  %107 = select i1 %106, i32 8, i32 4
  %108 = mul i32 %104, %107
  %109 = getelementptr inbounds i8, ptr @code, i32 %108
  br label %110
110:
  %.0300 = phi i32 [ 0, %96 ], [ %143, %139 ]
  %.0298 = phi ptr [ %100, %96 ], [ %144, %139 ]
  %111 = getelementptr inbounds %struct.code_class, ptr %90, i32 0, i32 4
  %112 = load i32, ptr %111
  %113 = icmp ult i32 %.0300, %112
  br i1 %113, label %114, label %145
114:
  %115 = load i64, ptr %.0298
  %116 = getelementptr inbounds i64, ptr %.0298, i32 1
  %117 = load i64, ptr %116
  %118 = getelementptr inbounds i64, ptr %.0298, i32 2
  %119 = load i64, ptr %118
  %120 = ashr i64 %119, 2
  %121 = trunc i64 %120 to i32
  %122 = getelementptr inbounds i8, ptr @tables, i32 %121
  %123 = and i64 %119, 3
  switch i64 %123, label %136 [
    i64 0, label %124
    i64 1, label %128
    i64 2, label %132
  ]
124:
  %125 = getelementptr inbounds i8, ptr %122, i32 %97
  %126 = load i8, ptr %125
  %127 = zext i8 %126 to i64
  br label %139
128:
  %129 = getelementptr inbounds i16, ptr %122, i32 %97
  %130 = load i16, ptr %129
  %131 = zext i16 %130 to i64
  br label %139
132:
  %133 = getelementptr inbounds i32, ptr %122, i32 %97
  %134 = load i32, ptr %133
  %135 = zext i32 %134 to i64
  br label %139
136:
  %137 = getelementptr inbounds i64, ptr %122, i32 %97
  %138 = load i64, ptr %137
  br label %139
139:
  %.0267 = phi i64 [ %138, %136 ], [ %135, %132 ], [ %131, %128 ], [ %127, %124 ]
  %140 = mul nsw i64 %117, %.0267
  %141 = add nsw i64 %115, %140
  %142 = getelementptr inbounds i64, ptr %93, i32 %.0300
  store i64 %141, ptr %142
  %143 = add i32 %.0300, 1
  %144 = getelementptr inbounds i64, ptr %.0298, i32 3
  br label %110
145:
  %.0330 = phi ptr [ %162, %175 ], [ %109, %110 ]
  %.0301 = phi i32 [ %180, %175 ], [ 0, %110 ]
  %146 = getelementptr inbounds %struct.code_class, ptr %90, i32 0, i32 2
  %147 = load i32, ptr %146
  %148 = icmp ult i32 %.0301, %147
  br i1 %148, label %149, label %181
149:
  %150 = load i8, ptr @has_wide
  %151 = trunc i8 %150 to i1
  br i1 %151, label %152, label %154
152:
  %153 = load i64, ptr %.0330
  br label %157
154:
  %155 = load i32, ptr %.0330
  %156 = sext i32 %155 to i64
  br label %157
157:
  %158 = phi i64 [ %153, %152 ], [ %156, %154 ]
  %159 = load i8, ptr @has_wide
  %160 = trunc i8 %159 to i1
  %161 = select i1 %160, i32 8, i32 4
  %162 = getelementptr inbounds i8, ptr %.0330, i32 %161
  %163 = load i32, ptr @size_count
  %164 = icmp ne i32 %163, 0
  br i1 %164, label %165, label %175
165:
  %166 = and i64 %158, 1
  %167 = icmp ne i64 %166, 0
  br i1 %167, label %168, label %173
168:
  %169 = ashr i64 %158, 1
  %170 = trunc i64 %169 to i32
  %171 = getelementptr inbounds i64, ptr %93, i32 %170
  %172 = load i64, ptr %171
  br label %175
173:
  %174 = ashr i64 %158, 1
  br label %175
175:
  %176 = phi i64 [ %158, %157 ], [ %172, %168 ], [ %174, %173 ]
  %177 = load i32, ptr %111
  %178 = add i32 %177, %.0301
  %179 = getelementptr inbounds i64, ptr %93, i32 %178
  store i64 %176, ptr %179
  %180 = add i32 %.0301, 1
  br label %145
181:
  %182 = load i32, ptr %90
  %183 = load i8, ptr @has_wide
  %184 = trunc i8 %183 to i1
  %185 = select i1 %184, i32 8, i32 4
  %186 = mul i32 %182, %185
  %187 = getelementptr inbounds i8, ptr @code, i32 %186
  %188 = load i32, ptr @size_count
  %189 = icmp ne i32 %188, 0
  br i1 %189, label %190, label %194
190:
  %191 = getelementptr inbounds %struct.code_class, ptr %90, i32 0, i32 4
  %192 = load i32, ptr %191
  %193 = getelementptr inbounds i64, ptr %93, i32 %192
  br label %198
194:
  %195 = getelementptr inbounds %struct.code_class, ptr %90, i32 0, i32 3
  %196 = load i32, ptr %195
  %197 = getelementptr inbounds i64, ptr @numbers, i32 %196
  br label %198
198:
  %199 = phi ptr [ %193, %190 ], [ %197, %194 ]
  %200 = getelementptr inbounds ptr, ptr %3, i32 2
  %201 = load i32, ptr @binding_count
  %202 = getelementptr inbounds ptr, ptr %200, i32 %201
  br label %203
203:
  %.0331 = phi ptr [ %187, %198 ], [ %.6, %585 ]
  %.0284 = phi i32 [ 0, %198 ], [ %.3287, %585 ]
  %.0278 = phi i32 [ 0, %198 ], [ %.4, %585 ]
  %.0274 = phi ptr [ %187, %198 ], [ %.3277, %585 ]
  %.0270 = phi ptr [ %187, %198 ], [ %.3273, %585 ]
  %.0268 = phi ptr [ null, %198 ], [ %.3, %585 ]
  %204 = load i8, ptr @has_wide
  %205 = trunc i8 %204 to i1
  br i1 %205, label %206, label %208
206:
  %207 = load i64, ptr %.0331
  br label %211
208:
  %209 = load i32, ptr %.0331
  %210 = sext i32 %209 to i64
  br label %211
211:
  %212 = phi i64 [ %207, %206 ], [ %210, %208 ]
  %213 = load i8, ptr @has_wide
  %214 = trunc i8 %213 to i1
  %215 = select i1 %214, i32 8, i32 4
  %216 = getelementptr inbounds i8, ptr %.0331, i32 %215
  %217 = load i32, ptr @size_count
  %218 = icmp ne i32 %217, 0
  br i1 %218, label %219, label %229
219:
  %220 = and i64 %212, 1
  %221 = icmp ne i64 %220, 0
  br i1 %221, label %222, label %227
222:
  %223 = ashr i64 %212, 1
  %224 = trunc i64 %223 to i32
  %225 = getelementptr inbounds i64, ptr %93, i32 %224
  %226 = load i64, ptr %225
  br label %229
227:
  %228 = ashr i64 %212, 1
  br label %229
229:
  %230 = phi i64 [ %212, %211 ], [ %226, %222 ], [ %228, %227 ]
  %231 = ashr i64 %230, 10
  %232 = and i64 %230, 7
  %233 = trunc i64 %232 to i32
  %234 = ashr i64 %230, 3
  %235 = and i64 %234, 127
  %236 = trunc i64 %235 to i32
  br label %237
237:
  %.1332 = phi ptr [ %216, %229 ], [ %.3334, %360 ]
  %.0289 = phi i32 [ 0, %229 ], [ %362, %360 ]
  %238 = icmp ult i32 %.0289, %236
  br i1 %238, label %239, label %363
239:
  %240 = load i8, ptr @has_wide
  %241 = trunc i8 %240 to i1
  br i1 %241, label %242, label %244
242:
  %243 = load i64, ptr %.1332
  br label %247
244:
  %245 = load i32, ptr %.1332
  %246 = sext i32 %245 to i64
  br label %247
247:
  %248 = phi i64 [ %243, %242 ], [ %246, %244 ]
  %249 = load i8, ptr @has_wide
  %250 = trunc i8 %249 to i1
  %251 = select i1 %250, i32 8, i32 4
  %252 = getelementptr inbounds i8, ptr %.1332, i32 %251
  %253 = load i32, ptr @size_count
  %254 = icmp ne i32 %253, 0
  br i1 %254, label %255, label %265
255:
  %256 = and i64 %248, 1
  %257 = icmp ne i64 %256, 0
  br i1 %257, label %258, label %263
258:
  %259 = ashr i64 %248, 1
  %260 = trunc i64 %259 to i32
  %261 = getelementptr inbounds i64, ptr %93, i32 %260
  %262 = load i64, ptr %261
  br label %265
263:
  %264 = ashr i64 %248, 1
  br label %265
265:
  %266 = phi i64 [ %248, %247 ], [ %262, %258 ], [ %264, %263 ]
  %267 = ashr i64 %266, 2
  %268 = load i32, ptr @base_mask
  %269 = zext i32 %268 to i64
  %270 = and i64 %267, %269
  %271 = trunc i64 %270 to i32
  %272 = getelementptr inbounds ptr, ptr %3, i32 %271
  %273 = load ptr, ptr %272
  %274 = load i32, ptr @base_bits
  %275 = zext i32 %274 to i64
  %276 = ashr i64 %266, %275
  %277 = trunc i64 %276 to i32
  %278 = getelementptr inbounds i8, ptr %273, i32 %277
  %279 = load i8, ptr @has_loops
  %280 = trunc i8 %279 to i1
  %281 = and i64 %266, 1
  %282 = icmp ne i64 %281, 0
  %or.cond340 = and i1 %280, %282
  br i1 %or.cond340, label %283, label %314
283:
  %284 = load i8, ptr @has_wide
  %285 = trunc i8 %284 to i1
  br i1 %285, label %286, label %288
286:
  %287 = load i64, ptr %252
  br label %291
288:
  %289 = load i32, ptr %252
  %290 = sext i32 %289 to i64
  br label %291
291:
  %292 = phi i64 [ %287, %286 ], [ %290, %288 ]
  %293 = load i8, ptr @has_wide
  %294 = trunc i8 %293 to i1
  %295 = select i1 %294, i32 8, i32 4
  %296 = getelementptr inbounds i8, ptr %252, i32 %295
  %297 = load i32, ptr @size_count
  %298 = icmp ne i32 %297, 0
  br i1 %298, label %299, label %309
299:
  %300 = and i64 %292, 1
  %301 = icmp ne i64 %300, 0
  br i1 %301, label %302, label %307
302:
  %303 = ashr i64 %292, 1
  %304 = trunc i64 %303 to i32
  %305 = getelementptr inbounds i64, ptr %93, i32 %304
  %306 = load i64, ptr %305
  br label %309
307:
  %308 = ashr i64 %292, 1
  br label %309
309:
  %310 = phi i64 [ %292, %291 ], [ %306, %302 ], [ %308, %307 ]
  %311 = trunc i64 %310 to i32
  %312 = mul nsw i32 %311, %.0278
  %313 = getelementptr inbounds i8, ptr %278, i32 %312
  br label %314
314:
  %.2333 = phi ptr [ %296, %309 ], [ %252, %265 ]
  %.0296 = phi ptr [ %313, %309 ], [ %278, %265 ]
  %315 = load i8, ptr @has_loops
  %316 = trunc i8 %315 to i1
  %317 = and i64 %266, 2
  %318 = icmp ne i64 %317, 0
  %or.cond342 = and i1 %316, %318
  br i1 %or.cond342, label %319, label %360
319:
  %320 = load i8, ptr @has_wide
  %321 = trunc i8 %320 to i1
  br i1 %321, label %322, label %324
322:
  %323 = load i64, ptr %.2333
  br label %327
324:
  %325 = load i32, ptr %.2333
  %326 = sext i32 %325 to i64
  br label %327
327:
  %328 = phi i64 [ %323, %322 ], [ %326, %324 ]
  %329 = load i8, ptr @has_wide
  %330 = trunc i8 %329 to i1
  %331 = select i1 %330, i32 8, i32 4
  %332 = getelementptr inbounds i8, ptr %.2333, i32 %331
  %333 = load i32, ptr @size_count
  %334 = icmp ne i32 %333, 0
  br i1 %334, label %335, label %345
335:
  %336 = and i64 %328, 1
  %337 = icmp ne i64 %336, 0
  br i1 %337, label %338, label %343
338:
  %339 = ashr i64 %328, 1
  %340 = trunc i64 %339 to i32
  %341 = getelementptr inbounds i64, ptr %93, i32 %340
  %342 = load i64, ptr %341
  br label %345
343:
  %344 = ashr i64 %328, 1
  br label %345
345:
  %346 = phi i64 [ %328, %327 ], [ %342, %338 ], [ %344, %343 ]
  %347 = ashr i64 %346, 2
  %348 = load i32, ptr @base_mask
  %349 = zext i32 %348 to i64
  %350 = and i64 %347, %349
  %351 = trunc i64 %350 to i32
  %352 = getelementptr inbounds ptr, ptr %3, i32 %351
  %353 = load ptr, ptr %352
  %354 = load i32, ptr @base_bits
  %355 = zext i32 %354 to i64
  %356 = ashr i64 %346, %355
  %357 = trunc i64 %356 to i32
  %358 = getelementptr inbounds i8, ptr %353, i32 %357
  %359 = icmp ne i32 %.0278, 0
  %.0296. = select i1 %359, ptr %.0296, ptr %358
  br label %360
360:
  %.3334 = phi ptr [ %332, %345 ], [ %.2333, %314 ]
  %.1297 = phi ptr [ %.0296., %345 ], [ %.0296, %314 ]
  %361 = getelementptr inbounds ptr, ptr %202, i32 %.0289
  store ptr %.1297, ptr %361
  %362 = add i32 %.0289, 1
  br label %237
363:
  %364 = icmp eq i32 %233, 1
  br i1 %364, label %365, label %474
365:
  %366 = load i8, ptr @has_wide
  %367 = trunc i8 %366 to i1
  br i1 %367, label %368, label %370
368:
  %369 = load i64, ptr %.1332
  br label %373
370:
  %371 = load i32, ptr %.1332
  %372 = sext i32 %371 to i64
  br label %373
373:
  %374 = phi i64 [ %369, %368 ], [ %372, %370 ]
  %375 = load i8, ptr @has_wide
  %376 = trunc i8 %375 to i1
  %377 = select i1 %376, i32 8, i32 4
  %378 = getelementptr inbounds i8, ptr %.1332, i32 %377
  %379 = load i32, ptr @size_count
  %380 = icmp ne i32 %379, 0
  br i1 %380, label %381, label %391
381:
  %382 = and i64 %374, 1
  %383 = icmp ne i64 %382, 0
  br i1 %383, label %384, label %389
384:
  %385 = ashr i64 %374, 1
  %386 = trunc i64 %385 to i32
  %387 = getelementptr inbounds i64, ptr %93, i32 %386
  %388 = load i64, ptr %387
  br label %391
389:
  %390 = ashr i64 %374, 1
  br label %391
391:
  %392 = phi i64 [ %374, %373 ], [ %388, %384 ], [ %390, %389 ]
  %393 = trunc i64 %392 to i32
  %394 = load i8, ptr @has_wide
  %395 = trunc i8 %394 to i1
  br i1 %395, label %396, label %398
396:
  %397 = load i64, ptr %378
  br label %401
398:
  %399 = load i32, ptr %378
  %400 = sext i32 %399 to i64
  br label %401
401:
  %402 = phi i64 [ %397, %396 ], [ %400, %398 ]
  %403 = load i8, ptr @has_wide
  %404 = trunc i8 %403 to i1
  %405 = select i1 %404, i32 8, i32 4
  %406 = getelementptr inbounds i8, ptr %378, i32 %405
  %407 = load i32, ptr @size_count
  %408 = icmp ne i32 %407, 0
  br i1 %408, label %409, label %419
409:
  %410 = and i64 %402, 1
  %411 = icmp ne i64 %410, 0
  br i1 %411, label %412, label %417
412:
  %413 = ashr i64 %402, 1
  %414 = trunc i64 %413 to i32
  %415 = getelementptr inbounds i64, ptr %93, i32 %414
  %416 = load i64, ptr %415
  br label %419
417:
  %418 = ashr i64 %402, 1
  br label %419
419:
  %420 = phi i64 [ %402, %401 ], [ %416, %412 ], [ %418, %417 ]
  %421 = trunc i64 %420 to i32
  %422 = getelementptr inbounds i64, ptr %199, i32 %421
  %423 = trunc i64 %231 to i32
  %424 = getelementptr inbounds [0 x ptr], ptr @kernels, i32 0, i32 %423
  %425 = load ptr, ptr %424
  store ptr %425, ptr %5
  %426 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 1
  store ptr %202, ptr %426
  %427 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 2
  store ptr %422, ptr %427
  %428 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 3
  %429 = load ptr, ptr %3
  %430 = load i32, ptr @arena_bytes
  %431 = getelementptr inbounds i8, ptr %429, i32 %430
  %432 = load i32, ptr @expanded_bytes
  %433 = getelementptr inbounds i8, ptr %431, i32 %432
  store ptr %433, ptr %428
  %434 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 4
  %435 = load i8, ptr @has_wide
  %436 = trunc i8 %435 to i1
  br i1 %436, label %437, label %439
437:
  %438 = load i64, ptr %406
  br label %442
439:
  %440 = load i32, ptr %406
  %441 = sext i32 %440 to i64
  br label %442
442:
  %443 = phi i64 [ %438, %437 ], [ %441, %439 ]
  %444 = load i8, ptr @has_wide
  %445 = trunc i8 %444 to i1
  %446 = select i1 %445, i32 8, i32 4
  %447 = getelementptr inbounds i8, ptr %406, i32 %446
  %448 = load i32, ptr @size_count
  %449 = icmp ne i32 %448, 0
  br i1 %449, label %450, label %460
450:
  %451 = and i64 %443, 1
  %452 = icmp ne i64 %451, 0
  br i1 %452, label %453, label %458
453:
  %454 = ashr i64 %443, 1
  %455 = trunc i64 %454 to i32
  %456 = getelementptr inbounds i64, ptr %93, i32 %455
  %457 = load i64, ptr %456
  br label %460
458:
  %459 = ashr i64 %443, 1
  br label %460
460:
  %461 = phi i64 [ %443, %442 ], [ %457, %453 ], [ %459, %458 ]
  %462 = trunc i64 %461 to i32
  store i32 %462, ptr %434
  %463 = icmp ne ptr %1, null
  br i1 %463, label %464, label %473
464:
  %465 = load i32, ptr %1
  %466 = icmp ult i32 %465, %393
  %. = select i1 %466, i32 %465, i32 %393
  %467 = icmp ugt i32 %., 1
  br i1 %467, label %468, label %473
468:
  %469 = getelementptr inbounds %struct.webnn_object_parallel, ptr %1, i32 0, i32 1
  %470 = load ptr, ptr %469
  %471 = getelementptr inbounds %struct.webnn_object_parallel, ptr %1, i32 0, i32 2
  %472 = load ptr, ptr %471
  call void %470(ptr %472, i32 %., ptr @part, ptr %5)
  br label %585
473:
  call void @part(ptr %5, i32 0, i32 1)
  br label %585
474:
  %475 = load i8, ptr @has_copies
  %476 = trunc i8 %475 to i1
  %477 = icmp eq i32 %233, 2
  %or.cond343 = and i1 %476, %477
  br i1 %or.cond343, label %478, label %528
478:
  %479 = getelementptr inbounds ptr, ptr %202, i32 1
  %480 = load ptr, ptr %479
  %481 = load ptr, ptr %202
  %482 = load i8, ptr @has_wide
  %483 = trunc i8 %482 to i1
  br i1 %483, label %484, label %486
484:
  %485 = load i64, ptr %.1332
  br label %489
486:
  %487 = load i32, ptr %.1332
  %488 = sext i32 %487 to i64
  br label %489
489:
  %490 = phi i64 [ %485, %484 ], [ %488, %486 ]
  %491 = load i8, ptr @has_wide
  %492 = trunc i8 %491 to i1
  %493 = select i1 %492, i32 8, i32 4
  %494 = getelementptr inbounds i8, ptr %.1332, i32 %493
  %495 = load i32, ptr @size_count
  %496 = icmp ne i32 %495, 0
  br i1 %496, label %497, label %507
497:
  %498 = and i64 %490, 1
  %499 = icmp ne i64 %498, 0
  br i1 %499, label %500, label %505
500:
  %501 = ashr i64 %490, 1
  %502 = trunc i64 %501 to i32
  %503 = getelementptr inbounds i64, ptr %93, i32 %502
  %504 = load i64, ptr %503
  br label %507
505:
  %506 = ashr i64 %490, 1
  br label %507
507:
  %508 = phi i64 [ %490, %489 ], [ %504, %500 ], [ %506, %505 ]
  %509 = trunc i64 %508 to i32
  %510 = ptrtoint ptr %480 to i32
  %511 = ptrtoint ptr %481 to i32
  %512 = or i32 %510, %511
  %513 = or i32 %512, %509
  %514 = and i32 %513, 7
  %515 = icmp ne i32 %514, 0
  br i1 %515, label %522, label %516
516:
  %.0 = phi i32 [ %520, %516 ], [ 0, %507 ]
  %517 = getelementptr inbounds i8, ptr %481, i32 %.0
  %518 = load i64, ptr %517
  %519 = getelementptr inbounds i8, ptr %480, i32 %.0
  store i64 %518, ptr %519
  %520 = add i32 %.0, 8
  %521 = icmp ult i32 %520, %509
  br i1 %521, label %516, label %585
522:
  %.1 = phi i32 [ %526, %522 ], [ 0, %507 ]
  %523 = getelementptr inbounds i8, ptr %481, i32 %.1
  %524 = load i8, ptr %523
  %525 = getelementptr inbounds i8, ptr %480, i32 %.1
  store i8 %524, ptr %525
  %526 = add i32 %.1, 1
  %527 = icmp ult i32 %526, %509
  br i1 %527, label %522, label %585
528:
  %529 = load i8, ptr @has_loops
  %530 = trunc i8 %529 to i1
  %531 = icmp uge i32 %233, 3
  %or.cond344 = and i1 %530, %531
  br i1 %or.cond344, label %532, label %.critedge
532:
  %533 = icmp eq i32 %233, 3
  br i1 %533, label %534, label %575
534:
  %535 = icmp ne i32 %236, 0
  br i1 %535, label %536, label %538
536:
  %537 = load ptr, ptr %202
  br label %538
538:
  %539 = phi ptr [ %537, %536 ], [ null, %534 ]
  %540 = load i8, ptr @has_wide
  %541 = trunc i8 %540 to i1
  br i1 %541, label %542, label %544
542:
  %543 = load i64, ptr %.1332
  br label %547
544:
  %545 = load i32, ptr %.1332
  %546 = sext i32 %545 to i64
  br label %547
547:
  %548 = phi i64 [ %543, %542 ], [ %546, %544 ]
  %549 = load i8, ptr @has_wide
  %550 = trunc i8 %549 to i1
  %551 = select i1 %550, i32 8, i32 4
  %552 = getelementptr inbounds i8, ptr %.1332, i32 %551
  %553 = load i32, ptr @size_count
  %554 = icmp ne i32 %553, 0
  br i1 %554, label %555, label %565
555:
  %556 = and i64 %548, 1
  %557 = icmp ne i64 %556, 0
  br i1 %557, label %558, label %563
558:
  %559 = ashr i64 %548, 1
  %560 = trunc i64 %559 to i32
  %561 = getelementptr inbounds i64, ptr %93, i32 %560
  %562 = load i64, ptr %561
  br label %565
563:
  %564 = ashr i64 %548, 1
  br label %565
565:
  %566 = phi i64 [ %548, %547 ], [ %562, %558 ], [ %564, %563 ]
  %567 = trunc i64 %566 to i32
  %568 = load i8, ptr @has_wide
  %569 = trunc i8 %568 to i1
  %570 = select i1 %569, i32 8, i32 4
  %571 = sext i32 %570 to i64
  %572 = mul nsw i64 %231, %571
  %573 = trunc i64 %572 to i32
  %574 = getelementptr inbounds i8, ptr %552, i32 %573
  br label %575
575:
  %.1285 = phi i32 [ %567, %565 ], [ %.0284, %532 ]
  %.1279 = phi i32 [ -1, %565 ], [ %.0278, %532 ]
  %.1275 = phi ptr [ %574, %565 ], [ %.0274, %532 ]
  %.1271 = phi ptr [ %552, %565 ], [ %.0270, %532 ]
  %.1269 = phi ptr [ %539, %565 ], [ %.0268, %532 ]
  %576 = add nsw i32 %.1279, 1
  %577 = icmp eq i32 %576, %.1285
  br i1 %577, label %584, label %578
578:
  %579 = icmp ne ptr %.1269, null
  br i1 %579, label %580, label %585
580:
  %581 = load i8, ptr %.1269
  %582 = zext i8 %581 to i32
  %583 = icmp ne i32 %582, 0
  br i1 %583, label %584, label %585
584:
  br label %585
585:
  %.6 = phi ptr [ %447, %473 ], [ %447, %468 ], [ %494, %516 ], [ %494, %522 ], [ %.1275, %584 ], [ %.1271, %580 ], [ %.1271, %578 ]
  %.3287 = phi i32 [ %.0284, %473 ], [ %.0284, %468 ], [ %.0284, %516 ], [ %.0284, %522 ], [ %.1285, %584 ], [ %.1285, %580 ], [ %.1285, %578 ]
  %.4 = phi i32 [ %.0278, %473 ], [ %.0278, %468 ], [ %.0278, %516 ], [ %.0278, %522 ], [ 0, %584 ], [ %576, %580 ], [ %576, %578 ]
  %.3277 = phi ptr [ %.0274, %473 ], [ %.0274, %468 ], [ %.0274, %516 ], [ %.0274, %522 ], [ %.1275, %584 ], [ %.1275, %580 ], [ %.1275, %578 ]
  %.3273 = phi ptr [ %.0270, %473 ], [ %.0270, %468 ], [ %.0270, %516 ], [ %.0270, %522 ], [ %.1271, %584 ], [ %.1271, %580 ], [ %.1271, %578 ]
  %.3 = phi ptr [ %.0268, %473 ], [ %.0268, %468 ], [ %.0268, %516 ], [ %.0268, %522 ], [ %.1269, %584 ], [ %.1269, %580 ], [ %.1269, %578 ]
  br label %203
.critedge:
  %.0282 = phi i32 [ 5, %4 ], [ 3, %70 ], [ 0, %528 ], [ 5, %10 ], [ 6, %34 ], [ 6, %37 ]
  ret i32 %.0282
}
define i32 @run_here(ptr %0, ptr %1) minsize optsize {
  %3 = call i32 @workspace_size(i32 1)
  %4 = call ptr @malloc(i32 %3)
  %5 = icmp ne ptr %4, null
  br i1 %5, label %6, label %8
6:
  %7 = call i32 @run_in(ptr %4, ptr null, ptr %0, ptr %1)
  call void @free(ptr %4)
  br label %8
8:
  %.0 = phi i32 [ %7, %6 ], [ 1, %2 ]
  ret i32 %.0
}
declare ptr @malloc(i32)
declare void @free(ptr)
define i32 @create(ptr %0, ptr %1) minsize optsize {
  %3 = alloca %struct.webnn_rt_options
  store i32 0, ptr %3
  %4 = getelementptr inbounds %struct.webnn_rt_options, ptr %3, i32 0, i32 1
  %5 = load ptr, ptr @weights_path
  store ptr %5, ptr %4
  %6 = icmp ne ptr %1, null
  br i1 %6, label %7, label %.critedge
7:
  %8 = icmp ne ptr %0, null
  br i1 %8, label %9, label %.critedge28
9:
  %10 = load i32, ptr %0
  %11 = icmp ne i32 %10, 0
  %12 = icmp ult i32 %10, 12
  %or.cond = and i1 %11, %12
  br i1 %or.cond, label %.critedge, label %13
13:
  %.023 = phi i32 [ %21, %20 ], [ 12, %9 ]
  %14 = load i32, ptr %0
  %15 = icmp ult i32 %.023, %14
  br i1 %15, label %16, label %22
16:
  %17 = getelementptr inbounds i8, ptr %0, i32 %.023
  %18 = load i8, ptr %17
  %19 = icmp ne i8 %18, 0
  br i1 %19, label %.critedge, label %20
20:
  %21 = add i32 %.023, 1
  br label %13
22:
  br i1 %8, label %23, label %.critedge28
23:
  %24 = load i32, ptr %0
  %25 = icmp ne i32 %24, 0
  br i1 %25, label %26, label %.critedge28
26:
  %27 = getelementptr inbounds %struct.webnn_object_options, ptr %0, i32 0, i32 1
  %28 = load i32, ptr %27
  store i32 %28, ptr %3
  %29 = load ptr, ptr @weights_path
  %30 = icmp ne ptr %29, null
  br i1 %30, label %31, label %.critedge28
31:
  %32 = getelementptr inbounds %struct.webnn_object_options, ptr %0, i32 0, i32 2
  %33 = load ptr, ptr %32
  %34 = icmp ne ptr %33, null
  br i1 %34, label %35, label %.critedge28
35:
  store ptr %33, ptr %4
  br label %.critedge28
.critedge28:
  %36 = load i32, ptr @level_count
  %37 = icmp eq i32 %36, 1
  br i1 %37, label %45, label %38
38:
  %39 = load atomic i32, ptr @levels_found monotonic, align 4
  %40 = icmp ne i32 %39, 0
  br i1 %40, label %43, label %41
41:
  %42 = call i32 @count_levels()
  store atomic i32 %42, ptr @levels_found monotonic, align 4
  br label %43
43:
  %.026 = phi i32 [ %39, %38 ], [ %42, %41 ]
  %44 = sub i32 %.026, 1
  br label %45
45:
  %.025 = phi i32 [ %44, %43 ], [ 0, %.critedge28 ]
  %46 = getelementptr inbounds [0 x %struct.webnn_rt_program], ptr @programs, i32 0, i32 %.025
  %47 = call i32 @webnn_rt_create(ptr %46, ptr %3, ptr %1)
  br label %.critedge
.critedge:
  %.024 = phi i32 [ %47, %45 ], [ 5, %2 ], [ 5, %16 ], [ 5, %9 ]
  ret i32 %.024
}
declare i32 @webnn_rt_create(ptr, ptr, ptr)
define void @destroy(ptr %0) minsize optsize {
  call void @webnn_rt_destroy(ptr %0)
  ret void
}
declare void @webnn_rt_destroy(ptr)
define i32 @run_model(ptr %0, ptr %1) minsize optsize {
  %3 = icmp ne ptr %0, null
  br i1 %3, label %4, label %.critedge
4:
  %.010 = phi i32 [ %13, %12 ], [ 0, %2 ]
  %5 = load i32, ptr @binding_count
  %6 = icmp ult i32 %.010, %5
  br i1 %6, label %7, label %14
7:
  %8 = add i32 2, %.010
  %9 = getelementptr inbounds ptr, ptr %1, i32 %8
  %10 = load ptr, ptr %9
  %11 = icmp ne ptr %10, null
  br i1 %11, label %12, label %.critedge
12:
  %13 = add i32 %.010, 1
  br label %4
14:
  %15 = getelementptr inbounds ptr, ptr %1, i32 2
  %16 = load i32, ptr @input_count
  %17 = getelementptr inbounds ptr, ptr %15, i32 %16
  %18 = call i32 @webnn_rt_run(ptr %0, ptr %15, ptr %17)
  br label %.critedge
.critedge:
  %.011 = phi i32 [ %18, %14 ], [ 5, %2 ], [ 5, %7 ]
  ret i32 %.011
}
declare i32 @webnn_rt_run(ptr, ptr, ptr)
define internal i32 @count_levels() minsize optsize {
  ret i32 1
}
define internal void @part(ptr %0, i32 %1, i32 %2) minsize optsize {
  %4 = alloca %struct.kernel_args
  %5 = icmp ugt i32 %2, 1
  br i1 %5, label %6, label %10
6:
  %7 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 4
  %8 = load i32, ptr %7
  %9 = udiv i32 %8, %2
  br label %13
10:
  %11 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 4
  %12 = load i32, ptr %11
  br label %13
13:
  %14 = phi i32 [ %9, %6 ], [ %12, %10 ]
  %15 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 4
  %16 = load i32, ptr %15
  %17 = mul i32 %14, %2
  %18 = sub i32 %16, %17
  %19 = mul i32 %14, %1
  %20 = icmp ult i32 %1, %18
  %. = select i1 %20, i32 %1, i32 %18
  %21 = add i32 %19, %.
  %22 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 1
  %23 = load ptr, ptr %22
  store ptr %23, ptr %4
  %24 = getelementptr inbounds %struct.kernel_args, ptr %4, i32 0, i32 1
  %25 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 2
  %26 = load ptr, ptr %25
  store ptr %26, ptr %24
  %27 = getelementptr inbounds %struct.kernel_args, ptr %4, i32 0, i32 2
  %28 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 3
  %29 = load ptr, ptr %28
  %30 = load i32, ptr @thread_bytes
  %31 = mul i32 %1, %30
  %32 = getelementptr inbounds i8, ptr %29, i32 %31
  store ptr %32, ptr %27
  %33 = load ptr, ptr %0
  %34 = zext i32 %21 to i64
  %35 = add i32 %21, %14
  %36 = zext i1 %20 to i32
  %37 = add i32 %35, %36
  %38 = zext i32 %37 to i64
  call void %33(ptr %4, i64 %34, i64 %38)
  ret void
}
