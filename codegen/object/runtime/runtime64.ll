%struct.code_class = type { i32, i32, i32, i32, i32 }
%struct.webnn_rt_program = type { i32, i32, ptr, ptr, i64, ptr, i64 }
%struct.job = type { ptr, ptr, ptr, ptr, i64 }
%struct.webnn_object_parallel = type { i32, ptr, ptr }
%struct.webnn_rt_options = type { i32, ptr }
%struct.webnn_object_options = type { i64, i32, ptr }
%struct.kernel_args = type { ptr, ptr, ptr }
@weights = internal global ptr null
@levels_found = internal global i32 0
define i32 @set_weights(ptr %0, i64 %1) minsize optsize {
  %3 = icmp ne ptr %0, null
  br i1 %3, label %4, label %25
4:
  %5 = load i64, ptr @constants_bytes
  %6 = add i64 64, %5
  %7 = icmp ne i64 %1, %6
  %8 = ptrtoint ptr %0 to i64
  %9 = and i64 %8, 63
  %10 = icmp ne i64 %9, 0
  %or.cond = or i1 %7, %10
  br i1 %or.cond, label %25, label %11
11:
  %.011 = phi i32 [ %21, %20 ], [ 0, %4 ]
  %12 = icmp ult i32 %.011, 3
  br i1 %12, label %13, label %22
13:
  %14 = zext i32 %.011 to i64
  %15 = getelementptr inbounds i64, ptr %0, i64 %14
  %16 = load i64, ptr %15
  %17 = getelementptr inbounds [3 x i64], ptr @weights_header, i64 0, i64 %14
  %18 = load i64, ptr %17
  %19 = icmp ne i64 %16, %18
  br i1 %19, label %25, label %20
20:
  %21 = add i32 %.011, 1
  br label %11
22:
  %23 = getelementptr inbounds i8, ptr %0, i64 64
  %24 = ptrtoint ptr %23 to i64
  store atomic i64 %24, ptr @weights release, align 8
  br label %25
25:
  %.0 = phi i32 [ 0, %22 ], [ 3, %4 ], [ 3, %2 ], [ 3, %13 ]
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
  %8 = call i64 @lseek(i32 %5, i64 0, i32 2)
  %9 = call ptr @mmap(ptr null, i64 %8, i32 1, i32 2, i32 %5, i64 0)
  %10 = call i32 @close(i32 %5)
  %11 = icmp eq ptr %9, inttoptr (i64 -1 to ptr)
  br i1 %11, label %17, label %12
12:
  %13 = call i32 @set_weights(ptr %9, i64 %8)
  %14 = icmp ne i32 %13, 0
  br i1 %14, label %15, label %17
15:
  %16 = call i32 @munmap(ptr %9, i64 %8)
  br label %17
17:
  %.0 = phi i32 [ 3, %1 ], [ 3, %7 ], [ %13, %15 ], [ %13, %12 ]
  ret i32 %.0
}
declare i32 @open(ptr, i32, ...)
declare i64 @lseek(i32, i64, i32)
declare ptr @mmap(ptr, i64, i32, i32, i32, i64)
declare i32 @close(i32)
declare i32 @munmap(ptr, i64)
define i64 @workspace_size(i32 %0) minsize optsize {
  %2 = load i64, ptr @fixed_bytes
  %3 = icmp ne i32 %0, 0
  %. = select i1 %3, i32 %0, i32 1
  %4 = zext i32 %. to i64
  %5 = load i64, ptr @thread_bytes
  %6 = mul i64 %4, %5
  %7 = add i64 %2, %6
  ret i64 %7
}
define i32 @run_in(ptr %0, ptr %1, ptr %2, ptr %3) minsize optsize {
  %5 = alloca %struct.job
  %6 = icmp ne ptr %0, null
  br i1 %6, label %7, label %.critedge
7:
  %.0283 = phi i32 [ %17, %16 ], [ 0, %4 ]
  %8 = load i32, ptr @binding_count
  %9 = icmp ult i32 %.0283, %8
  br i1 %9, label %10, label %18
10:
  %11 = add i32 2, %.0283
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds ptr, ptr %3, i64 %12
  %14 = load ptr, ptr %13
  %15 = icmp ne ptr %14, null
  br i1 %15, label %16, label %.critedge
16:
  %17 = add i32 %.0283, 1
  br label %7
18:
  %.0336 = phi i32 [ %49, %47 ], [ 0, %7 ]
  %.0295 = phi ptr [ %51, %47 ], [ @size_values, %7 ]
  %.0294 = phi i32 [ %52, %47 ], [ 0, %7 ]
  %19 = load i32, ptr @size_count
  %20 = icmp ult i32 %.0294, %19
  br i1 %20, label %21, label %53
21:
  %22 = zext i32 %.0294 to i64
  %23 = getelementptr inbounds [0 x i32], ptr @size_counts, i64 0, i64 %22
  %24 = load i32, ptr %23
  br label %25
25:
  %.0292 = phi i32 [ 0, %21 ], [ %.1293, %27 ]
  %.0290 = phi i32 [ %24, %21 ], [ %.1291, %27 ]
  %26 = icmp ult i32 %.0292, %.0290
  br i1 %26, label %27, label %37
27:
  %28 = add i32 %.0292, %.0290
  %29 = udiv i32 %28, 2
  %30 = zext i32 %29 to i64
  %31 = getelementptr inbounds i32, ptr %.0295, i64 %30
  %32 = load i32, ptr %31
  %33 = getelementptr inbounds i32, ptr %2, i64 %22
  %34 = load i32, ptr %33
  %35 = icmp ult i32 %32, %34
  %36 = add i32 %29, 1
  %.1293 = select i1 %35, i32 %36, i32 %.0292
  %.1291 = select i1 %35, i32 %.0290, i32 %29
  br label %25
37:
  %38 = load i32, ptr %23
  %39 = icmp eq i32 %.0292, %38
  br i1 %39, label %.critedge, label %40
40:
  %41 = zext i32 %.0292 to i64
  %42 = getelementptr inbounds i32, ptr %.0295, i64 %41
  %43 = load i32, ptr %42
  %44 = getelementptr inbounds i32, ptr %2, i64 %22
  %45 = load i32, ptr %44
  %46 = icmp ne i32 %43, %45
  br i1 %46, label %.critedge, label %47
47:
  %48 = mul i32 %.0336, %38
  %49 = add i32 %48, %.0292
  %50 = zext i32 %38 to i64
  %51 = getelementptr inbounds i32, ptr %.0295, i64 %50
  %52 = add i32 %.0294, 1
  br label %18
53:
  %54 = ptrtoint ptr %0 to i64
  %55 = sub i64 0, %54
  %56 = and i64 %55, 63
  %57 = getelementptr inbounds i8, ptr %0, i64 %56
  store ptr %57, ptr %3
  %58 = load i64, ptr @constants_bytes
  %59 = icmp ne i64 %58, 0
  br i1 %59, label %60, label %78
60:
  %61 = load ptr, ptr @embedded
  %62 = icmp ne ptr %61, null
  br i1 %62, label %75, label %63
63:
  %64 = load atomic i64, ptr @weights acquire, align 8
  %65 = inttoptr i64 %64 to ptr
  %66 = load i8, ptr @has_files
  %67 = trunc i8 %66 to i1
  %.not = xor i1 %67, true
  %68 = icmp ne ptr %65, null
  %or.cond = select i1 %.not, i1 true, i1 %68
  br i1 %or.cond, label %75, label %69
69:
  %70 = call i32 @load_weights(ptr null)
  %71 = icmp eq i32 %70, 0
  br i1 %71, label %72, label %75
72:
  %73 = load atomic i64, ptr @weights acquire, align 8
  %74 = inttoptr i64 %73 to ptr
  br label %75
75:
  %.0303 = phi ptr [ %61, %60 ], [ %74, %72 ], [ %65, %69 ], [ %65, %63 ]
  %76 = getelementptr inbounds ptr, ptr %3, i64 1
  store ptr %.0303, ptr %76
  %77 = icmp ne ptr %.0303, null
  br i1 %77, label %78, label %.critedge
78:
  %79 = load i32, ptr @level_count
  %80 = icmp eq i32 %79, 1
  br i1 %80, label %88, label %81
81:
  %82 = load atomic i32, ptr @levels_found monotonic, align 4
  %83 = icmp ne i32 %82, 0
  br i1 %83, label %86, label %84
84:
  %85 = call i32 @count_levels()
  store atomic i32 %85, ptr @levels_found monotonic, align 4
  br label %86
86:
  %.0305 = phi i32 [ %82, %81 ], [ %85, %84 ]
  %87 = sub i32 %.0305, 1
  br label %88
88:
  %.0304 = phi i32 [ %87, %86 ], [ 0, %78 ]
  %89 = load i32, ptr @variant_count
  %90 = mul i32 %.0304, %89
  %91 = add i32 %90, %.0336
  %92 = zext i32 %91 to i64
  %93 = getelementptr inbounds [0 x i32], ptr @places, i64 0, i64 %92
  %94 = load i32, ptr %93
  %95 = lshr i32 %94, 14
  %96 = zext i32 %95 to i64
  %97 = getelementptr inbounds [0 x %struct.code_class], ptr @classes, i64 0, i64 %96
  %98 = load ptr, ptr %3
  %99 = load i64, ptr @arena_bytes
  %100 = getelementptr inbounds i8, ptr %98, i64 %99
  %101 = load i32, ptr @size_count
  %102 = icmp ne i32 %101, 0
  br i1 %102, label %103, label %195
103:
  %104 = and i32 %94, 16383
  %105 = getelementptr inbounds %struct.code_class, ptr %97, i32 0, i32 3
  %106 = load i32, ptr %105
  %107 = zext i32 %106 to i64
  %108 = getelementptr inbounds i64, ptr @numbers, i64 %107
  %109 = load i32, ptr %97
  %110 = getelementptr inbounds %struct.code_class, ptr %97, i32 0, i32 1
  %111 = load i32, ptr %110
  %112 = add i32 %109, %111
  %113 = load i8, ptr @has_wide
  %114 = trunc i8 %113 to i1
  %115 = select i1 %114, i32 8, i32 4
  %116 = mul i32 %112, %115
  %117 = zext i32 %116 to i64
  %118 = getelementptr inbounds i8, ptr @code, i64 %117
  br label %119
119:
  %.0300 = phi i32 [ 0, %103 ], [ %156, %151 ]
  %.0298 = phi ptr [ %108, %103 ], [ %157, %151 ]
  %120 = getelementptr inbounds %struct.code_class, ptr %97, i32 0, i32 4
  %121 = load i32, ptr %120
  %122 = icmp ult i32 %.0300, %121
  br i1 %122, label %123, label %158
123:
  %124 = load i64, ptr %.0298
  %125 = getelementptr inbounds i64, ptr %.0298, i64 1
  %126 = load i64, ptr %125
  %127 = getelementptr inbounds i64, ptr %.0298, i64 2
  %128 = load i64, ptr %127
  %129 = ashr i64 %128, 2
  %130 = getelementptr inbounds i8, ptr @tables, i64 %129
  %131 = and i64 %128, 3
  switch i64 %131, label %.unreachabledefault [
    i64 0, label %132
    i64 1, label %137
    i64 2, label %142
    i64 3, label %147
  ]
132:
  %133 = zext i32 %104 to i64
  %134 = getelementptr inbounds i8, ptr %130, i64 %133
  %135 = load i8, ptr %134
  %136 = zext i8 %135 to i64
  br label %151
137:
  %138 = zext i32 %104 to i64
  %139 = getelementptr inbounds i16, ptr %130, i64 %138
  %140 = load i16, ptr %139
  %141 = zext i16 %140 to i64
  br label %151
142:
  %143 = zext i32 %104 to i64
  %144 = getelementptr inbounds i32, ptr %130, i64 %143
  %145 = load i32, ptr %144
  %146 = zext i32 %145 to i64
  br label %151
.unreachabledefault:
  unreachable
147:
  %148 = zext i32 %104 to i64
  %149 = getelementptr inbounds i64, ptr %130, i64 %148
  %150 = load i64, ptr %149
  br label %151
151:
  %.0267 = phi i64 [ %150, %147 ], [ %146, %142 ], [ %141, %137 ], [ %136, %132 ]
  %152 = mul nsw i64 %126, %.0267
  %153 = add nsw i64 %124, %152
  %154 = zext i32 %.0300 to i64
  %155 = getelementptr inbounds i64, ptr %100, i64 %154
  store i64 %153, ptr %155
  %156 = add i32 %.0300, 1
  %157 = getelementptr inbounds i64, ptr %.0298, i64 3
  br label %119
158:
  %.0330 = phi ptr [ %176, %188 ], [ %118, %119 ]
  %.0301 = phi i32 [ %194, %188 ], [ 0, %119 ]
  %159 = getelementptr inbounds %struct.code_class, ptr %97, i32 0, i32 2
  %160 = load i32, ptr %159
  %161 = icmp ult i32 %.0301, %160
  br i1 %161, label %162, label %195
162:
  %163 = load i8, ptr @has_wide
  %164 = trunc i8 %163 to i1
  br i1 %164, label %165, label %167
165:
  %166 = load i64, ptr %.0330
  br label %170
167:
  %168 = load i32, ptr %.0330
  %169 = sext i32 %168 to i64
  br label %170
170:
  %171 = phi i64 [ %166, %165 ], [ %169, %167 ]
  %172 = load i8, ptr @has_wide
  %173 = trunc i8 %172 to i1
  %174 = select i1 %173, i32 8, i32 4
  %175 = sext i32 %174 to i64
  %176 = getelementptr inbounds i8, ptr %.0330, i64 %175
  %177 = load i32, ptr @size_count
  %178 = icmp ne i32 %177, 0
  br i1 %178, label %179, label %188
179:
  %180 = and i64 %171, 1
  %181 = icmp ne i64 %180, 0
  br i1 %181, label %182, label %186
182:
  %183 = ashr i64 %171, 1
  %184 = getelementptr inbounds i64, ptr %100, i64 %183
  %185 = load i64, ptr %184
  br label %188
186:
  %187 = ashr i64 %171, 1
  br label %188
188:
  %189 = phi i64 [ %171, %170 ], [ %185, %182 ], [ %187, %186 ]
  %190 = load i32, ptr %120
  %191 = add i32 %190, %.0301
  %192 = zext i32 %191 to i64
  %193 = getelementptr inbounds i64, ptr %100, i64 %192
  store i64 %189, ptr %193
  %194 = add i32 %.0301, 1
  br label %158
195:
  %196 = load i32, ptr %97
  %197 = load i8, ptr @has_wide
  %198 = trunc i8 %197 to i1
  %199 = select i1 %198, i32 8, i32 4
  %200 = mul i32 %196, %199
  %201 = zext i32 %200 to i64
  %202 = getelementptr inbounds i8, ptr @code, i64 %201
  %203 = load i32, ptr @size_count
  %204 = icmp ne i32 %203, 0
  br i1 %204, label %205, label %210
205:
  %206 = getelementptr inbounds %struct.code_class, ptr %97, i32 0, i32 4
  %207 = load i32, ptr %206
  %208 = zext i32 %207 to i64
  %209 = getelementptr inbounds i64, ptr %100, i64 %208
  br label %215
210:
  %211 = getelementptr inbounds %struct.code_class, ptr %97, i32 0, i32 3
  %212 = load i32, ptr %211
  %213 = zext i32 %212 to i64
  %214 = getelementptr inbounds i64, ptr @numbers, i64 %213
  br label %215
215:
  %216 = phi ptr [ %209, %205 ], [ %214, %210 ]
  %217 = getelementptr inbounds ptr, ptr %3, i64 2
  %218 = load i32, ptr @binding_count
  %219 = zext i32 %218 to i64
  %220 = getelementptr inbounds ptr, ptr %217, i64 %219
  br label %221
221:
  %.0331 = phi ptr [ %202, %215 ], [ %.6, %593 ]
  %.0284 = phi i64 [ 0, %215 ], [ %.3287, %593 ]
  %.0278 = phi i64 [ 0, %215 ], [ %.4, %593 ]
  %.0274 = phi ptr [ %202, %215 ], [ %.3277, %593 ]
  %.0270 = phi ptr [ %202, %215 ], [ %.3273, %593 ]
  %.0268 = phi ptr [ null, %215 ], [ %.3, %593 ]
  %222 = load i8, ptr @has_wide
  %223 = trunc i8 %222 to i1
  br i1 %223, label %224, label %226
224:
  %225 = load i64, ptr %.0331
  br label %229
226:
  %227 = load i32, ptr %.0331
  %228 = sext i32 %227 to i64
  br label %229
229:
  %230 = phi i64 [ %225, %224 ], [ %228, %226 ]
  %231 = load i8, ptr @has_wide
  %232 = trunc i8 %231 to i1
  %233 = select i1 %232, i32 8, i32 4
  %234 = sext i32 %233 to i64
  %235 = getelementptr inbounds i8, ptr %.0331, i64 %234
  %236 = load i32, ptr @size_count
  %237 = icmp ne i32 %236, 0
  br i1 %237, label %238, label %247
238:
  %239 = and i64 %230, 1
  %240 = icmp ne i64 %239, 0
  br i1 %240, label %241, label %245
241:
  %242 = ashr i64 %230, 1
  %243 = getelementptr inbounds i64, ptr %100, i64 %242
  %244 = load i64, ptr %243
  br label %247
245:
  %246 = ashr i64 %230, 1
  br label %247
247:
  %248 = phi i64 [ %230, %229 ], [ %244, %241 ], [ %246, %245 ]
  %249 = ashr i64 %248, 10
  %250 = and i64 %248, 7
  %251 = trunc i64 %250 to i32
  %252 = ashr i64 %248, 3
  %253 = and i64 %252, 127
  %254 = trunc i64 %253 to i32
  br label %255
255:
  %.1332 = phi ptr [ %235, %247 ], [ %.3334, %373 ]
  %.0289 = phi i32 [ 0, %247 ], [ %376, %373 ]
  %256 = icmp ult i32 %.0289, %254
  br i1 %256, label %257, label %377
257:
  %258 = load i8, ptr @has_wide
  %259 = trunc i8 %258 to i1
  br i1 %259, label %260, label %262
260:
  %261 = load i64, ptr %.1332
  br label %265
262:
  %263 = load i32, ptr %.1332
  %264 = sext i32 %263 to i64
  br label %265
265:
  %266 = phi i64 [ %261, %260 ], [ %264, %262 ]
  %267 = load i8, ptr @has_wide
  %268 = trunc i8 %267 to i1
  %269 = select i1 %268, i32 8, i32 4
  %270 = sext i32 %269 to i64
  %271 = getelementptr inbounds i8, ptr %.1332, i64 %270
  %272 = load i32, ptr @size_count
  %273 = icmp ne i32 %272, 0
  br i1 %273, label %274, label %283
274:
  %275 = and i64 %266, 1
  %276 = icmp ne i64 %275, 0
  br i1 %276, label %277, label %281
277:
  %278 = ashr i64 %266, 1
  %279 = getelementptr inbounds i64, ptr %100, i64 %278
  %280 = load i64, ptr %279
  br label %283
281:
  %282 = ashr i64 %266, 1
  br label %283
283:
  %284 = phi i64 [ %266, %265 ], [ %280, %277 ], [ %282, %281 ]
  %285 = ashr i64 %284, 2
  %286 = load i32, ptr @base_mask
  %287 = zext i32 %286 to i64
  %288 = and i64 %285, %287
  %289 = getelementptr inbounds ptr, ptr %3, i64 %288
  %290 = load ptr, ptr %289
  %291 = load i32, ptr @base_bits
  %292 = zext i32 %291 to i64
  %293 = ashr i64 %284, %292
  %294 = getelementptr inbounds i8, ptr %290, i64 %293
  %295 = load i8, ptr @has_loops
  %296 = trunc i8 %295 to i1
  %297 = and i64 %284, 1
  %298 = icmp ne i64 %297, 0
  %or.cond340 = and i1 %296, %298
  br i1 %or.cond340, label %299, label %329
299:
  %300 = load i8, ptr @has_wide
  %301 = trunc i8 %300 to i1
  br i1 %301, label %302, label %304
302:
  %303 = load i64, ptr %271
  br label %307
304:
  %305 = load i32, ptr %271
  %306 = sext i32 %305 to i64
  br label %307
307:
  %308 = phi i64 [ %303, %302 ], [ %306, %304 ]
  %309 = load i8, ptr @has_wide
  %310 = trunc i8 %309 to i1
  %311 = select i1 %310, i32 8, i32 4
  %312 = sext i32 %311 to i64
  %313 = getelementptr inbounds i8, ptr %271, i64 %312
  %314 = load i32, ptr @size_count
  %315 = icmp ne i32 %314, 0
  br i1 %315, label %316, label %325
316:
  %317 = and i64 %308, 1
  %318 = icmp ne i64 %317, 0
  br i1 %318, label %319, label %323
319:
  %320 = ashr i64 %308, 1
  %321 = getelementptr inbounds i64, ptr %100, i64 %320
  %322 = load i64, ptr %321
  br label %325
323:
  %324 = ashr i64 %308, 1
  br label %325
325:
  %326 = phi i64 [ %308, %307 ], [ %322, %319 ], [ %324, %323 ]
  %327 = mul nsw i64 %326, %.0278
  %328 = getelementptr inbounds i8, ptr %294, i64 %327
  br label %329
329:
  %.2333 = phi ptr [ %313, %325 ], [ %271, %283 ]
  %.0296 = phi ptr [ %328, %325 ], [ %294, %283 ]
  %330 = load i8, ptr @has_loops
  %331 = trunc i8 %330 to i1
  %332 = and i64 %284, 2
  %333 = icmp ne i64 %332, 0
  %or.cond342 = and i1 %331, %333
  br i1 %or.cond342, label %334, label %373
334:
  %335 = load i8, ptr @has_wide
  %336 = trunc i8 %335 to i1
  br i1 %336, label %337, label %339
337:
  %338 = load i64, ptr %.2333
  br label %342
339:
  %340 = load i32, ptr %.2333
  %341 = sext i32 %340 to i64
  br label %342
342:
  %343 = phi i64 [ %338, %337 ], [ %341, %339 ]
  %344 = load i8, ptr @has_wide
  %345 = trunc i8 %344 to i1
  %346 = select i1 %345, i32 8, i32 4
  %347 = sext i32 %346 to i64
  %348 = getelementptr inbounds i8, ptr %.2333, i64 %347
  %349 = load i32, ptr @size_count
  %350 = icmp ne i32 %349, 0
  br i1 %350, label %351, label %360
351:
  %352 = and i64 %343, 1
  %353 = icmp ne i64 %352, 0
  br i1 %353, label %354, label %358
354:
  %355 = ashr i64 %343, 1
  %356 = getelementptr inbounds i64, ptr %100, i64 %355
  %357 = load i64, ptr %356
  br label %360
358:
  %359 = ashr i64 %343, 1
  br label %360
360:
  %361 = phi i64 [ %343, %342 ], [ %357, %354 ], [ %359, %358 ]
  %362 = ashr i64 %361, 2
  %363 = load i32, ptr @base_mask
  %364 = zext i32 %363 to i64
  %365 = and i64 %362, %364
  %366 = getelementptr inbounds ptr, ptr %3, i64 %365
  %367 = load ptr, ptr %366
  %368 = load i32, ptr @base_bits
  %369 = zext i32 %368 to i64
  %370 = ashr i64 %361, %369
  %371 = getelementptr inbounds i8, ptr %367, i64 %370
  %372 = icmp ne i64 %.0278, 0
  %.0296. = select i1 %372, ptr %.0296, ptr %371
  br label %373
373:
  %.3334 = phi ptr [ %348, %360 ], [ %.2333, %329 ]
  %.1297 = phi ptr [ %.0296., %360 ], [ %.0296, %329 ]
  %374 = zext i32 %.0289 to i64
  %375 = getelementptr inbounds ptr, ptr %220, i64 %374
  store ptr %.1297, ptr %375
  %376 = add i32 %.0289, 1
  br label %255
377:
  %378 = icmp eq i32 %251, 1
  br i1 %378, label %379, label %485
379:
  %380 = load i8, ptr @has_wide
  %381 = trunc i8 %380 to i1
  br i1 %381, label %382, label %384
382:
  %383 = load i64, ptr %.1332
  br label %387
384:
  %385 = load i32, ptr %.1332
  %386 = sext i32 %385 to i64
  br label %387
387:
  %388 = phi i64 [ %383, %382 ], [ %386, %384 ]
  %389 = load i8, ptr @has_wide
  %390 = trunc i8 %389 to i1
  %391 = select i1 %390, i32 8, i32 4
  %392 = sext i32 %391 to i64
  %393 = getelementptr inbounds i8, ptr %.1332, i64 %392
  %394 = load i32, ptr @size_count
  %395 = icmp ne i32 %394, 0
  br i1 %395, label %396, label %405
396:
  %397 = and i64 %388, 1
  %398 = icmp ne i64 %397, 0
  br i1 %398, label %399, label %403
399:
  %400 = ashr i64 %388, 1
  %401 = getelementptr inbounds i64, ptr %100, i64 %400
  %402 = load i64, ptr %401
  br label %405
403:
  %404 = ashr i64 %388, 1
  br label %405
405:
  %406 = phi i64 [ %388, %387 ], [ %402, %399 ], [ %404, %403 ]
  %407 = trunc i64 %406 to i32
  %408 = load i8, ptr @has_wide
  %409 = trunc i8 %408 to i1
  br i1 %409, label %410, label %412
410:
  %411 = load i64, ptr %393
  br label %415
412:
  %413 = load i32, ptr %393
  %414 = sext i32 %413 to i64
  br label %415
415:
  %416 = phi i64 [ %411, %410 ], [ %414, %412 ]
  %417 = load i8, ptr @has_wide
  %418 = trunc i8 %417 to i1
  %419 = select i1 %418, i32 8, i32 4
  %420 = sext i32 %419 to i64
  %421 = getelementptr inbounds i8, ptr %393, i64 %420
  %422 = load i32, ptr @size_count
  %423 = icmp ne i32 %422, 0
  br i1 %423, label %424, label %433
424:
  %425 = and i64 %416, 1
  %426 = icmp ne i64 %425, 0
  br i1 %426, label %427, label %431
427:
  %428 = ashr i64 %416, 1
  %429 = getelementptr inbounds i64, ptr %100, i64 %428
  %430 = load i64, ptr %429
  br label %433
431:
  %432 = ashr i64 %416, 1
  br label %433
433:
  %434 = phi i64 [ %416, %415 ], [ %430, %427 ], [ %432, %431 ]
  %435 = getelementptr inbounds i64, ptr %216, i64 %434
  %436 = getelementptr inbounds [0 x ptr], ptr @kernels, i64 0, i64 %249
  %437 = load ptr, ptr %436
  store ptr %437, ptr %5
  %438 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 1
  store ptr %220, ptr %438
  %439 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 2
  store ptr %435, ptr %439
  %440 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 3
  %441 = load ptr, ptr %3
  %442 = load i64, ptr @arena_bytes
  %443 = getelementptr inbounds i8, ptr %441, i64 %442
  %444 = load i64, ptr @expanded_bytes
  %445 = getelementptr inbounds i8, ptr %443, i64 %444
  store ptr %445, ptr %440
  %446 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 4
  %447 = load i8, ptr @has_wide
  %448 = trunc i8 %447 to i1
  br i1 %448, label %449, label %451
449:
  %450 = load i64, ptr %421
  br label %454
451:
  %452 = load i32, ptr %421
  %453 = sext i32 %452 to i64
  br label %454
454:
  %455 = phi i64 [ %450, %449 ], [ %453, %451 ]
  %456 = load i8, ptr @has_wide
  %457 = trunc i8 %456 to i1
  %458 = select i1 %457, i32 8, i32 4
  %459 = sext i32 %458 to i64
  %460 = getelementptr inbounds i8, ptr %421, i64 %459
  %461 = load i32, ptr @size_count
  %462 = icmp ne i32 %461, 0
  br i1 %462, label %463, label %472
463:
  %464 = and i64 %455, 1
  %465 = icmp ne i64 %464, 0
  br i1 %465, label %466, label %470
466:
  %467 = ashr i64 %455, 1
  %468 = getelementptr inbounds i64, ptr %100, i64 %467
  %469 = load i64, ptr %468
  br label %472
470:
  %471 = ashr i64 %455, 1
  br label %472
472:
  %473 = phi i64 [ %455, %454 ], [ %469, %466 ], [ %471, %470 ]
  store i64 %473, ptr %446
  %474 = icmp ne ptr %1, null
  br i1 %474, label %475, label %484
475:
  %476 = load i32, ptr %1
  %477 = icmp ult i32 %476, %407
  %. = select i1 %477, i32 %476, i32 %407
  %478 = icmp ugt i32 %., 1
  br i1 %478, label %479, label %484
479:
  %480 = getelementptr inbounds %struct.webnn_object_parallel, ptr %1, i32 0, i32 1
  %481 = load ptr, ptr %480
  %482 = getelementptr inbounds %struct.webnn_object_parallel, ptr %1, i32 0, i32 2
  %483 = load ptr, ptr %482
  call void %481(ptr %483, i32 %., ptr @part, ptr %5)
  br label %593
484:
  call void @part(ptr %5, i32 0, i32 1)
  br label %593
485:
  %486 = load i8, ptr @has_copies
  %487 = trunc i8 %486 to i1
  %488 = icmp eq i32 %251, 2
  %or.cond343 = and i1 %487, %488
  br i1 %or.cond343, label %489, label %538
489:
  %490 = getelementptr inbounds ptr, ptr %220, i64 1
  %491 = load ptr, ptr %490
  %492 = load ptr, ptr %220
  %493 = load i8, ptr @has_wide
  %494 = trunc i8 %493 to i1
  br i1 %494, label %495, label %497
495:
  %496 = load i64, ptr %.1332
  br label %500
497:
  %498 = load i32, ptr %.1332
  %499 = sext i32 %498 to i64
  br label %500
500:
  %501 = phi i64 [ %496, %495 ], [ %499, %497 ]
  %502 = load i8, ptr @has_wide
  %503 = trunc i8 %502 to i1
  %504 = select i1 %503, i32 8, i32 4
  %505 = sext i32 %504 to i64
  %506 = getelementptr inbounds i8, ptr %.1332, i64 %505
  %507 = load i32, ptr @size_count
  %508 = icmp ne i32 %507, 0
  br i1 %508, label %509, label %518
509:
  %510 = and i64 %501, 1
  %511 = icmp ne i64 %510, 0
  br i1 %511, label %512, label %516
512:
  %513 = ashr i64 %501, 1
  %514 = getelementptr inbounds i64, ptr %100, i64 %513
  %515 = load i64, ptr %514
  br label %518
516:
  %517 = ashr i64 %501, 1
  br label %518
518:
  %519 = phi i64 [ %501, %500 ], [ %515, %512 ], [ %517, %516 ]
  %520 = ptrtoint ptr %491 to i64
  %521 = ptrtoint ptr %492 to i64
  %522 = or i64 %520, %521
  %523 = or i64 %522, %519
  %524 = and i64 %523, 7
  %525 = icmp ne i64 %524, 0
  br i1 %525, label %532, label %526
526:
  %.0 = phi i64 [ %530, %526 ], [ 0, %518 ]
  %527 = getelementptr inbounds i8, ptr %492, i64 %.0
  %528 = load i64, ptr %527
  %529 = getelementptr inbounds i8, ptr %491, i64 %.0
  store i64 %528, ptr %529
  %530 = add i64 %.0, 8
  %531 = icmp ult i64 %530, %519
  br i1 %531, label %526, label %593
532:
  %.1 = phi i64 [ %536, %532 ], [ 0, %518 ]
  %533 = getelementptr inbounds i8, ptr %492, i64 %.1
  %534 = load i8, ptr %533
  %535 = getelementptr inbounds i8, ptr %491, i64 %.1
  store i8 %534, ptr %535
  %536 = add i64 %.1, 1
  %537 = icmp ult i64 %536, %519
  br i1 %537, label %532, label %593
538:
  %539 = load i8, ptr @has_loops
  %540 = trunc i8 %539 to i1
  %541 = icmp uge i32 %251, 3
  %or.cond344 = and i1 %540, %541
  br i1 %or.cond344, label %542, label %.critedge
542:
  %543 = icmp eq i32 %251, 3
  br i1 %543, label %544, label %583
544:
  %545 = icmp ne i32 %254, 0
  br i1 %545, label %546, label %548
546:
  %547 = load ptr, ptr %220
  br label %548
548:
  %549 = phi ptr [ %547, %546 ], [ null, %544 ]
  %550 = load i8, ptr @has_wide
  %551 = trunc i8 %550 to i1
  br i1 %551, label %552, label %554
552:
  %553 = load i64, ptr %.1332
  br label %557
554:
  %555 = load i32, ptr %.1332
  %556 = sext i32 %555 to i64
  br label %557
557:
  %558 = phi i64 [ %553, %552 ], [ %556, %554 ]
  %559 = load i8, ptr @has_wide
  %560 = trunc i8 %559 to i1
  %561 = select i1 %560, i32 8, i32 4
  %562 = sext i32 %561 to i64
  %563 = getelementptr inbounds i8, ptr %.1332, i64 %562
  %564 = load i32, ptr @size_count
  %565 = icmp ne i32 %564, 0
  br i1 %565, label %566, label %575
566:
  %567 = and i64 %558, 1
  %568 = icmp ne i64 %567, 0
  br i1 %568, label %569, label %573
569:
  %570 = ashr i64 %558, 1
  %571 = getelementptr inbounds i64, ptr %100, i64 %570
  %572 = load i64, ptr %571
  br label %575
573:
  %574 = ashr i64 %558, 1
  br label %575
575:
  %576 = phi i64 [ %558, %557 ], [ %572, %569 ], [ %574, %573 ]
  %577 = load i8, ptr @has_wide
  %578 = trunc i8 %577 to i1
  %579 = select i1 %578, i32 8, i32 4
  %580 = sext i32 %579 to i64
  %581 = mul nsw i64 %249, %580
  %582 = getelementptr inbounds i8, ptr %563, i64 %581
  br label %583
583:
  %.1285 = phi i64 [ %576, %575 ], [ %.0284, %542 ]
  %.1279 = phi i64 [ -1, %575 ], [ %.0278, %542 ]
  %.1275 = phi ptr [ %582, %575 ], [ %.0274, %542 ]
  %.1271 = phi ptr [ %563, %575 ], [ %.0270, %542 ]
  %.1269 = phi ptr [ %549, %575 ], [ %.0268, %542 ]
  %584 = add nsw i64 %.1279, 1
  %585 = icmp eq i64 %584, %.1285
  br i1 %585, label %592, label %586
586:
  %587 = icmp ne ptr %.1269, null
  br i1 %587, label %588, label %593
588:
  %589 = load i8, ptr %.1269
  %590 = sext i8 %589 to i32
  %591 = icmp ne i32 %590, 0
  br i1 %591, label %592, label %593
592:
  br label %593
593:
  %.6 = phi ptr [ %460, %484 ], [ %460, %479 ], [ %506, %526 ], [ %506, %532 ], [ %.1275, %592 ], [ %.1271, %588 ], [ %.1271, %586 ]
  %.3287 = phi i64 [ %.0284, %484 ], [ %.0284, %479 ], [ %.0284, %526 ], [ %.0284, %532 ], [ %.1285, %592 ], [ %.1285, %588 ], [ %.1285, %586 ]
  %.4 = phi i64 [ %.0278, %484 ], [ %.0278, %479 ], [ %.0278, %526 ], [ %.0278, %532 ], [ 0, %592 ], [ %584, %588 ], [ %584, %586 ]
  %.3277 = phi ptr [ %.0274, %484 ], [ %.0274, %479 ], [ %.0274, %526 ], [ %.0274, %532 ], [ %.1275, %592 ], [ %.1275, %588 ], [ %.1275, %586 ]
  %.3273 = phi ptr [ %.0270, %484 ], [ %.0270, %479 ], [ %.0270, %526 ], [ %.0270, %532 ], [ %.1271, %592 ], [ %.1271, %588 ], [ %.1271, %586 ]
  %.3 = phi ptr [ %.0268, %484 ], [ %.0268, %479 ], [ %.0268, %526 ], [ %.0268, %532 ], [ %.1269, %592 ], [ %.1269, %588 ], [ %.1269, %586 ]
  br label %221
.critedge:
  %.0282 = phi i32 [ 5, %4 ], [ 3, %75 ], [ 0, %538 ], [ 5, %10 ], [ 6, %37 ], [ 6, %40 ]
  ret i32 %.0282
}
define i32 @run_here(ptr %0, ptr %1) minsize optsize {
  %3 = call i64 @workspace_size(i32 1)
  %4 = call ptr @malloc(i64 %3)
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
declare ptr @malloc(i64)
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
  %10 = load i64, ptr %0
  %11 = icmp ne i64 %10, 0
  %12 = icmp ult i64 %10, 24
  %or.cond = and i1 %11, %12
  br i1 %or.cond, label %.critedge, label %13
13:
  %.023 = phi i64 [ %21, %20 ], [ 24, %9 ]
  %14 = load i64, ptr %0
  %15 = icmp ult i64 %.023, %14
  br i1 %15, label %16, label %22
16:
  %17 = getelementptr inbounds i8, ptr %0, i64 %.023
  %18 = load i8, ptr %17
  %19 = icmp ne i8 %18, 0
  br i1 %19, label %.critedge, label %20
20:
  %21 = add i64 %.023, 1
  br label %13
22:
  br i1 %8, label %23, label %.critedge28
23:
  %24 = load i64, ptr %0
  %25 = icmp ne i64 %24, 0
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
  %46 = zext i32 %.025 to i64
  %47 = getelementptr inbounds [0 x %struct.webnn_rt_program], ptr @programs, i64 0, i64 %46
  %48 = call i32 @webnn_rt_create(ptr %47, ptr %3, ptr %1)
  br label %.critedge
.critedge:
  %.024 = phi i32 [ %48, %45 ], [ 5, %2 ], [ 5, %16 ], [ 5, %9 ]
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
  %.010 = phi i32 [ %14, %13 ], [ 0, %2 ]
  %5 = load i32, ptr @binding_count
  %6 = icmp ult i32 %.010, %5
  br i1 %6, label %7, label %15
7:
  %8 = add i32 2, %.010
  %9 = zext i32 %8 to i64
  %10 = getelementptr inbounds ptr, ptr %1, i64 %9
  %11 = load ptr, ptr %10
  %12 = icmp ne ptr %11, null
  br i1 %12, label %13, label %.critedge
13:
  %14 = add i32 %.010, 1
  br label %4
15:
  %16 = getelementptr inbounds ptr, ptr %1, i64 2
  %17 = load i32, ptr @input_count
  %18 = zext i32 %17 to i64
  %19 = getelementptr inbounds ptr, ptr %16, i64 %18
  %20 = call i32 @webnn_rt_run(ptr %0, ptr %16, ptr %19)
  br label %.critedge
.critedge:
  %.011 = phi i32 [ %20, %15 ], [ 5, %2 ], [ 5, %7 ]
  ret i32 %.011
}
declare i32 @webnn_rt_run(ptr, ptr, ptr)
define internal i32 @count_levels() minsize optsize {
  %1 = alloca [4 x i32]
  %2 = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0, i32 0)
  %3 = extractvalue { i32, i32, i32, i32 } %2, 0
  %4 = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 1, i32 0)
  %5 = extractvalue { i32, i32, i32, i32 } %4, 2
  store i32 %5, ptr %1
  %6 = getelementptr inbounds [4 x i32], ptr %1, i64 0, i64 1
  %7 = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 7, i32 0)
  %8 = extractvalue { i32, i32, i32, i32 } %7, 1
  store i32 %8, ptr %6
  %9 = icmp uge i32 %3, 7
  %. = select i1 %9, i32 %8, i32 0
  store i32 %., ptr %6
  %10 = getelementptr inbounds [4 x i32], ptr %1, i64 0, i64 2
  %11 = call { i32, i32, i32, i32 } asm sideeffect "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}"(i32 -2147483647, i32 0)
  %12 = extractvalue { i32, i32, i32, i32 } %11, 2
  store i32 %12, ptr %10
  %13 = getelementptr inbounds [4 x i32], ptr %1, i64 0, i64 3
  store i32 0, ptr %13
  %14 = load i32, ptr %1
  %15 = and i32 %14, 134217728
  %16 = icmp ne i32 %15, 0
  br i1 %16, label %17, label %20
17:
  %18 = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}"(i32 0)
  %19 = extractvalue { i32, i32 } %18, 0
  store i32 %19, ptr %13
  br label %20
20:
  br label %21
21:
  %.025 = phi i32 [ 1, %20 ], [ %40, %39 ]
  %22 = load i32, ptr @level_count
  %23 = icmp ult i32 %.025, %22
  br i1 %23, label %24, label %41
24:
  %.0 = phi i32 [ %38, %37 ], [ 0, %21 ]
  %25 = icmp ult i32 %.0, 4
  br i1 %25, label %26, label %39
26:
  %27 = zext i32 %.025 to i64
  %28 = getelementptr inbounds [0 x [4 x i32]], ptr @level_masks, i64 0, i64 %27
  %29 = zext i32 %.0 to i64
  %30 = getelementptr inbounds [4 x i32], ptr %28, i64 0, i64 %29
  %31 = load i32, ptr %30
  %32 = getelementptr inbounds [4 x i32], ptr %1, i64 0, i64 %29
  %33 = load i32, ptr %32
  %34 = xor i32 %33, -1
  %35 = and i32 %31, %34
  %36 = icmp ne i32 %35, 0
  br i1 %36, label %41, label %37
37:
  %38 = add i32 %.0, 1
  br label %24
39:
  %40 = add i32 %.025, 1
  br label %21
41:
  ret i32 %.025
}
define internal void @part(ptr %0, i32 %1, i32 %2) minsize optsize {
  %4 = alloca %struct.kernel_args
  %5 = icmp ugt i32 %2, 1
  br i1 %5, label %6, label %11
6:
  %7 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 4
  %8 = load i64, ptr %7
  %9 = zext i32 %2 to i64
  %10 = udiv i64 %8, %9
  br label %14
11:
  %12 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 4
  %13 = load i64, ptr %12
  br label %14
14:
  %15 = phi i64 [ %10, %6 ], [ %13, %11 ]
  %16 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 4
  %17 = load i64, ptr %16
  %18 = zext i32 %2 to i64
  %19 = mul i64 %15, %18
  %20 = sub i64 %17, %19
  %21 = zext i32 %1 to i64
  %22 = mul i64 %15, %21
  %23 = icmp ult i64 %21, %20
  %. = select i1 %23, i64 %21, i64 %20
  %24 = add i64 %22, %.
  %25 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 1
  %26 = load ptr, ptr %25
  store ptr %26, ptr %4
  %27 = getelementptr inbounds %struct.kernel_args, ptr %4, i32 0, i32 1
  %28 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 2
  %29 = load ptr, ptr %28
  store ptr %29, ptr %27
  %30 = getelementptr inbounds %struct.kernel_args, ptr %4, i32 0, i32 2
  %31 = getelementptr inbounds %struct.job, ptr %0, i32 0, i32 3
  %32 = load ptr, ptr %31
  %33 = load i64, ptr @thread_bytes
  %34 = mul i64 %21, %33
  %35 = getelementptr inbounds i8, ptr %32, i64 %34
  store ptr %35, ptr %30
  %36 = load ptr, ptr %0
  %37 = add i64 %24, %15
  %38 = zext i1 %23 to i32
  %39 = sext i32 %38 to i64
  %40 = add i64 %37, %39
  call void %36(ptr %4, i64 %24, i64 %40)
  ret void
}
