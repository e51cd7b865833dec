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
  %.0149 = phi i32 [ %17, %16 ], [ 0, %4 ]
  %8 = load i32, ptr @binding_count
  %9 = icmp ult i32 %.0149, %8
  br i1 %9, label %10, label %18
10:
  %11 = add i32 2, %.0149
  %12 = zext i32 %11 to i64
  %13 = getelementptr inbounds ptr, ptr %3, i64 %12
  %14 = load ptr, ptr %13
  %15 = icmp ne ptr %14, null
  br i1 %15, label %16, label %.critedge
16:
  %17 = add i32 %.0149, 1
  br label %7
18:
  %.0143 = phi i32 [ %41, %25 ], [ 0, %7 ]
  %.0142 = phi i32 [ %38, %25 ], [ 0, %7 ]
  %19 = load i32, ptr @size_count
  %20 = icmp ne i32 %19, 0
  %21 = icmp ult i32 %.0142, %19
  %spec.select = select i1 %20, i1 %21, i1 false
  br i1 %spec.select, label %22, label %42
22:
  %23 = load i32, ptr @variant_count
  %24 = icmp eq i32 %.0143, %23
  br i1 %24, label %.critedge, label %25
25:
  %26 = zext i32 %.0142 to i64
  %27 = getelementptr inbounds i32, ptr %2, i64 %26
  %28 = load i32, ptr %27
  %29 = load i32, ptr @size_count
  %30 = mul i32 %.0143, %29
  %31 = add i32 %30, %.0142
  %32 = zext i32 %31 to i64
  %33 = getelementptr inbounds [0 x i32], ptr @variant_sizes, i64 0, i64 %32
  %34 = load i32, ptr %33
  %35 = icmp eq i32 %28, %34
  %36 = zext i1 %35 to i8
  %37 = add i32 %.0142, 1
  %38 = select i1 %35, i32 %37, i32 0
  %39 = xor i1 %35, true
  %40 = zext i1 %39 to i32
  %41 = add i32 %.0143, %40
  br label %18
42:
  %43 = ptrtoint ptr %0 to i64
  %44 = sub i64 0, %43
  %45 = and i64 %44, 63
  %46 = getelementptr inbounds i8, ptr %0, i64 %45
  store ptr %46, ptr %3
  %47 = load i64, ptr @constants_bytes
  %48 = icmp ne i64 %47, 0
  br i1 %48, label %49, label %67
49:
  %50 = load ptr, ptr @embedded
  %51 = icmp ne ptr %50, null
  br i1 %51, label %64, label %52
52:
  %53 = load atomic i64, ptr @weights acquire, align 8
  %54 = inttoptr i64 %53 to ptr
  %55 = load i8, ptr @has_files
  %56 = trunc i8 %55 to i1
  %.not = xor i1 %56, true
  %57 = icmp ne ptr %54, null
  %or.cond = select i1 %.not, i1 true, i1 %57
  br i1 %or.cond, label %64, label %58
58:
  %59 = call i32 @load_weights(ptr null)
  %60 = icmp eq i32 %59, 0
  br i1 %60, label %61, label %64
61:
  %62 = load atomic i64, ptr @weights acquire, align 8
  %63 = inttoptr i64 %62 to ptr
  br label %64
64:
  %.0164 = phi ptr [ %50, %49 ], [ %63, %61 ], [ %54, %58 ], [ %54, %52 ]
  %65 = getelementptr inbounds ptr, ptr %3, i64 1
  store ptr %.0164, ptr %65
  %66 = icmp ne ptr %.0164, null
  br i1 %66, label %67, label %.critedge
67:
  %68 = load i32, ptr @level_count
  %69 = icmp eq i32 %68, 1
  br i1 %69, label %77, label %70
70:
  %71 = load atomic i32, ptr @levels_found monotonic, align 4
  %72 = icmp ne i32 %71, 0
  br i1 %72, label %75, label %73
73:
  %74 = call i32 @count_levels()
  store atomic i32 %74, ptr @levels_found monotonic, align 4
  br label %75
75:
  %.0145 = phi i32 [ %71, %70 ], [ %74, %73 ]
  %76 = sub i32 %.0145, 1
  br label %77
77:
  %.0144 = phi i32 [ %76, %75 ], [ 0, %67 ]
  %78 = load i32, ptr @variant_count
  %79 = mul i32 %.0144, %78
  %80 = add i32 %79, %.0143
  %81 = zext i32 %80 to i64
  %82 = getelementptr inbounds [0 x i32], ptr @code_starts, i64 0, i64 %81
  %83 = load i32, ptr %82
  %84 = load i8, ptr @has_wide
  %85 = trunc i8 %84 to i1
  %86 = select i1 %85, i32 8, i32 4
  %87 = mul i32 %83, %86
  %88 = zext i32 %87 to i64
  %89 = getelementptr inbounds i8, ptr @code, i64 %88
  %90 = getelementptr inbounds ptr, ptr %3, i64 2
  %91 = load i32, ptr @binding_count
  %92 = zext i32 %91 to i64
  %93 = getelementptr inbounds ptr, ptr %90, i64 %92
  br label %94
94:
  %.0191 = phi ptr [ %89, %77 ], [ %.6, %319 ]
  %.0165 = phi i64 [ 0, %77 ], [ %.3168, %319 ]
  %.0159 = phi i64 [ 0, %77 ], [ %.4, %319 ]
  %.0155 = phi ptr [ %89, %77 ], [ %.3158, %319 ]
  %.0150 = phi ptr [ %89, %77 ], [ %.3153, %319 ]
  %.0146 = phi ptr [ null, %77 ], [ %.3, %319 ]
  %95 = load i8, ptr @has_wide
  %96 = trunc i8 %95 to i1
  %97 = select i1 %96, i32 8, i32 4
  %98 = sext i32 %97 to i64
  %99 = getelementptr inbounds i8, ptr %.0191, i64 %98
  br i1 %96, label %100, label %102
100:
  %101 = load i64, ptr %.0191
  br label %105
102:
  %103 = load i32, ptr %.0191
  %104 = sext i32 %103 to i64
  br label %105
105:
  %106 = phi i64 [ %101, %100 ], [ %104, %102 ]
  %107 = ashr i64 %106, 10
  %108 = and i64 %106, 7
  %109 = trunc i64 %108 to i32
  %110 = ashr i64 %106, 3
  %111 = and i64 %110, 127
  %112 = trunc i64 %111 to i32
  br label %113
113:
  %.1192 = phi ptr [ %99, %105 ], [ %.3194, %186 ]
  %.0169 = phi i32 [ 0, %105 ], [ %189, %186 ]
  %114 = icmp ult i32 %.0169, %112
  br i1 %114, label %115, label %190
115:
  %116 = load i8, ptr @has_wide
  %117 = trunc i8 %116 to i1
  %118 = select i1 %117, i32 8, i32 4
  %119 = sext i32 %118 to i64
  %120 = getelementptr inbounds i8, ptr %.1192, i64 %119
  br i1 %117, label %121, label %123
121:
  %122 = load i64, ptr %.1192
  br label %126
123:
  %124 = load i32, ptr %.1192
  %125 = sext i32 %124 to i64
  br label %126
126:
  %127 = phi i64 [ %122, %121 ], [ %125, %123 ]
  %128 = ashr i64 %127, 2
  %129 = load i32, ptr @base_mask
  %130 = zext i32 %129 to i64
  %131 = and i64 %128, %130
  %132 = getelementptr inbounds ptr, ptr %3, i64 %131
  %133 = load ptr, ptr %132
  %134 = load i32, ptr @base_bits
  %135 = zext i32 %134 to i64
  %136 = ashr i64 %127, %135
  %137 = getelementptr inbounds i8, ptr %133, i64 %136
  %138 = load i8, ptr @has_loops
  %139 = trunc i8 %138 to i1
  %140 = and i64 %127, 1
  %141 = icmp ne i64 %140, 0
  %or.cond197 = and i1 %139, %141
  br i1 %or.cond197, label %142, label %157
142:
  %143 = load i8, ptr @has_wide
  %144 = trunc i8 %143 to i1
  %145 = select i1 %144, i32 8, i32 4
  %146 = sext i32 %145 to i64
  %147 = getelementptr inbounds i8, ptr %120, i64 %146
  br i1 %144, label %148, label %150
148:
  %149 = load i64, ptr %120
  br label %153
150:
  %151 = load i32, ptr %120
  %152 = sext i32 %151 to i64
  br label %153
153:
  %154 = phi i64 [ %149, %148 ], [ %152, %150 ]
  %155 = mul nsw i64 %154, %.0159
  %156 = getelementptr inbounds i8, ptr %137, i64 %155
  br label %157
157:
  %.2193 = phi ptr [ %147, %153 ], [ %120, %126 ]
  %.0170 = phi ptr [ %156, %153 ], [ %137, %126 ]
  %158 = load i8, ptr @has_loops
  %159 = trunc i8 %158 to i1
  %160 = and i64 %127, 2
  %161 = icmp ne i64 %160, 0
  %or.cond199 = and i1 %159, %161
  br i1 %or.cond199, label %162, label %186
162:
  %163 = load i8, ptr @has_wide
  %164 = trunc i8 %163 to i1
  %165 = select i1 %164, i32 8, i32 4
  %166 = sext i32 %165 to i64
  %167 = getelementptr inbounds i8, ptr %.2193, i64 %166
  br i1 %164, label %168, label %170
168:
  %169 = load i64, ptr %.2193
  br label %173
170:
  %171 = load i32, ptr %.2193
  %172 = sext i32 %171 to i64
  br label %173
173:
  %174 = phi i64 [ %169, %168 ], [ %172, %170 ]
  %175 = ashr i64 %174, 2
  %176 = load i32, ptr @base_mask
  %177 = zext i32 %176 to i64
  %178 = and i64 %175, %177
  %179 = getelementptr inbounds ptr, ptr %3, i64 %178
  %180 = load ptr, ptr %179
  %181 = load i32, ptr @base_bits
  %182 = zext i32 %181 to i64
  %183 = ashr i64 %174, %182
  %184 = getelementptr inbounds i8, ptr %180, i64 %183
  %185 = icmp ne i64 %.0159, 0
  %.0170. = select i1 %185, ptr %.0170, ptr %184
  br label %186
186:
  %.3194 = phi ptr [ %167, %173 ], [ %.2193, %157 ]
  %.1171 = phi ptr [ %.0170., %173 ], [ %.0170, %157 ]
  %187 = zext i32 %.0169 to i64
  %188 = getelementptr inbounds ptr, ptr %93, i64 %187
  store ptr %.1171, ptr %188
  %189 = add i32 %.0169, 1
  br label %113
190:
  %191 = icmp eq i32 %109, 1
  br i1 %191, label %192, label %241
192:
  %193 = load i8, ptr @has_wide
  %194 = trunc i8 %193 to i1
  %195 = select i1 %194, i32 8, i32 4
  %196 = sext i32 %195 to i64
  %197 = getelementptr inbounds i8, ptr %.1192, i64 %196
  br i1 %194, label %198, label %200
198:
  %199 = load i64, ptr %.1192
  br label %203
200:
  %201 = load i32, ptr %.1192
  %202 = sext i32 %201 to i64
  br label %203
203:
  %204 = phi i64 [ %199, %198 ], [ %202, %200 ]
  %205 = getelementptr inbounds i64, ptr @numbers, i64 %204
  %206 = ashr i64 %107, 11
  %207 = getelementptr inbounds [0 x ptr], ptr @kernels, i64 0, i64 %206
  %208 = load ptr, ptr %207
  store ptr %208, ptr %5
  %209 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 1
  store ptr %93, ptr %209
  %210 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 2
  store ptr %205, ptr %210
  %211 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 3
  %212 = load ptr, ptr %3
  %213 = load i64, ptr @arena_bytes
  %214 = getelementptr inbounds i8, ptr %212, i64 %213
  store ptr %214, ptr %211
  %215 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 4
  %216 = load i8, ptr @has_wide
  %217 = trunc i8 %216 to i1
  %218 = select i1 %217, i32 8, i32 4
  %219 = sext i32 %218 to i64
  %220 = getelementptr inbounds i8, ptr %197, i64 %219
  br i1 %217, label %221, label %223
221:
  %222 = load i64, ptr %197
  br label %226
223:
  %224 = load i32, ptr %197
  %225 = sext i32 %224 to i64
  br label %226
226:
  %227 = phi i64 [ %222, %221 ], [ %225, %223 ]
  store i64 %227, ptr %215
  %228 = and i64 %107, 2047
  %229 = trunc i64 %228 to i32
  %230 = icmp ne ptr %1, null
  br i1 %230, label %231, label %240
231:
  %232 = load i32, ptr %1
  %233 = icmp ult i32 %232, %229
  %. = select i1 %233, i32 %232, i32 %229
  %234 = icmp ugt i32 %., 1
  br i1 %234, label %235, label %240
235:
  %236 = getelementptr inbounds %struct.webnn_object_parallel, ptr %1, i32 0, i32 1
  %237 = load ptr, ptr %236
  %238 = getelementptr inbounds %struct.webnn_object_parallel, ptr %1, i32 0, i32 2
  %239 = load ptr, ptr %238
  call void %237(ptr %239, i32 %., ptr @part, ptr %5)
  br label %319
240:
  call void @part(ptr %5, i32 0, i32 1)
  br label %319
241:
  %242 = load i8, ptr @has_copies
  %243 = trunc i8 %242 to i1
  %244 = icmp eq i32 %109, 2
  %or.cond200 = and i1 %243, %244
  br i1 %or.cond200, label %245, label %279
245:
  %246 = getelementptr inbounds ptr, ptr %93, i64 1
  %247 = load ptr, ptr %246
  %248 = load ptr, ptr %93
  %249 = load i8, ptr @has_wide
  %250 = trunc i8 %249 to i1
  %251 = select i1 %250, i32 8, i32 4
  %252 = sext i32 %251 to i64
  %253 = getelementptr inbounds i8, ptr %.1192, i64 %252
  br i1 %250, label %254, label %256
254:
  %255 = load i64, ptr %.1192
  br label %259
256:
  %257 = load i32, ptr %.1192
  %258 = sext i32 %257 to i64
  br label %259
259:
  %260 = phi i64 [ %255, %254 ], [ %258, %256 ]
  %261 = ptrtoint ptr %247 to i64
  %262 = ptrtoint ptr %248 to i64
  %263 = or i64 %261, %262
  %264 = or i64 %263, %260
  %265 = and i64 %264, 7
  %266 = icmp ne i64 %265, 0
  br i1 %266, label %273, label %267
267:
  %.0 = phi i64 [ %271, %267 ], [ 0, %259 ]
  %268 = getelementptr inbounds i8, ptr %248, i64 %.0
  %269 = load i64, ptr %268
  %270 = getelementptr inbounds i8, ptr %247, i64 %.0
  store i64 %269, ptr %270
  %271 = add i64 %.0, 8
  %272 = icmp ult i64 %271, %260
  br i1 %272, label %267, label %319
273:
  %.1 = phi i64 [ %277, %273 ], [ 0, %259 ]
  %274 = getelementptr inbounds i8, ptr %248, i64 %.1
  %275 = load i8, ptr %274
  %276 = getelementptr inbounds i8, ptr %247, i64 %.1
  store i8 %275, ptr %276
  %277 = add i64 %.1, 1
  %278 = icmp ult i64 %277, %260
  br i1 %278, label %273, label %319
279:
  %280 = load i8, ptr @has_loops
  %281 = trunc i8 %280 to i1
  %282 = icmp uge i32 %109, 3
  %or.cond201 = and i1 %281, %282
  br i1 %or.cond201, label %283, label %.critedge
283:
  %284 = icmp eq i32 %109, 3
  br i1 %284, label %285, label %309
285:
  %286 = icmp ne i32 %112, 0
  br i1 %286, label %287, label %289
287:
  %288 = load ptr, ptr %93
  br label %289
289:
  %290 = phi ptr [ %288, %287 ], [ null, %285 ]
  %291 = load i8, ptr @has_wide
  %292 = trunc i8 %291 to i1
  %293 = select i1 %292, i32 8, i32 4
  %294 = sext i32 %293 to i64
  %295 = getelementptr inbounds i8, ptr %.1192, i64 %294
  br i1 %292, label %296, label %298
296:
  %297 = load i64, ptr %.1192
  br label %301
298:
  %299 = load i32, ptr %.1192
  %300 = sext i32 %299 to i64
  br label %301
301:
  %302 = phi i64 [ %297, %296 ], [ %300, %298 ]
  %303 = load i8, ptr @has_wide
  %304 = trunc i8 %303 to i1
  %305 = select i1 %304, i32 8, i32 4
  %306 = sext i32 %305 to i64
  %307 = mul nsw i64 %107, %306
  %308 = getelementptr inbounds i8, ptr %295, i64 %307
  br label %309
309:
  %.1166 = phi i64 [ %302, %301 ], [ %.0165, %283 ]
  %.1160 = phi i64 [ -1, %301 ], [ %.0159, %283 ]
  %.1156 = phi ptr [ %308, %301 ], [ %.0155, %283 ]
  %.1151 = phi ptr [ %295, %301 ], [ %.0150, %283 ]
  %.1147 = phi ptr [ %290, %301 ], [ %.0146, %283 ]
  %310 = add nsw i64 %.1160, 1
  %311 = icmp eq i64 %310, %.1166
  br i1 %311, label %318, label %312
312:
  %313 = icmp ne ptr %.1147, null
  br i1 %313, label %314, label %319
314:
  %315 = load i8, ptr %.1147
  %316 = sext i8 %315 to i32
  %317 = icmp ne i32 %316, 0
  br i1 %317, label %318, label %319
318:
  br label %319
319:
  %.6 = phi ptr [ %220, %240 ], [ %220, %235 ], [ %253, %267 ], [ %253, %273 ], [ %.1156, %318 ], [ %.1151, %314 ], [ %.1151, %312 ]
  %.3168 = phi i64 [ %.0165, %240 ], [ %.0165, %235 ], [ %.0165, %267 ], [ %.0165, %273 ], [ %.1166, %318 ], [ %.1166, %314 ], [ %.1166, %312 ]
  %.4 = phi i64 [ %.0159, %240 ], [ %.0159, %235 ], [ %.0159, %267 ], [ %.0159, %273 ], [ 0, %318 ], [ %310, %314 ], [ %310, %312 ]
  %.3158 = phi ptr [ %.0155, %240 ], [ %.0155, %235 ], [ %.0155, %267 ], [ %.0155, %273 ], [ %.1156, %318 ], [ %.1156, %314 ], [ %.1156, %312 ]
  %.3153 = phi ptr [ %.0150, %240 ], [ %.0150, %235 ], [ %.0150, %267 ], [ %.0150, %273 ], [ %.1151, %318 ], [ %.1151, %314 ], [ %.1151, %312 ]
  %.3 = phi ptr [ %.0146, %240 ], [ %.0146, %235 ], [ %.0146, %267 ], [ %.0146, %273 ], [ %.1147, %318 ], [ %.1147, %314 ], [ %.1147, %312 ]
  br label %94
.critedge:
  %.0148 = phi i32 [ 5, %4 ], [ 6, %22 ], [ 3, %64 ], [ 0, %279 ], [ 5, %10 ]
  ret i32 %.0148
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
