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
  %.0149 = phi i32 [ %16, %15 ], [ 0, %4 ]
  %8 = load i32, ptr @binding_count
  %9 = icmp ult i32 %.0149, %8
  br i1 %9, label %10, label %17
10:
  %11 = add i32 2, %.0149
  %12 = getelementptr inbounds ptr, ptr %3, i32 %11
  %13 = load ptr, ptr %12
  %14 = icmp ne ptr %13, null
  br i1 %14, label %15, label %.critedge
15:
  %16 = add i32 %.0149, 1
  br label %7
17:
  %.0143 = phi i32 [ %38, %24 ], [ 0, %7 ]
  %.0142 = phi i32 [ %35, %24 ], [ 0, %7 ]
  %18 = load i32, ptr @size_count
  %19 = icmp ne i32 %18, 0
  %20 = icmp ult i32 %.0142, %18
  %spec.select = select i1 %19, i1 %20, i1 false
  br i1 %spec.select, label %21, label %39
21:
  %22 = load i32, ptr @variant_count
  %23 = icmp eq i32 %.0143, %22
  br i1 %23, label %.critedge, label %24
24:
  %25 = getelementptr inbounds i32, ptr %2, i32 %.0142
  %26 = load i32, ptr %25
  %27 = load i32, ptr @size_count
  %28 = mul i32 %.0143, %27
  %29 = add i32 %28, %.0142
  %30 = getelementptr inbounds [0 x i32], ptr @variant_sizes, i32 0, i32 %29
  %31 = load i32, ptr %30
  %32 = icmp eq i32 %26, %31
  %33 = zext i1 %32 to i8
  %34 = add i32 %.0142, 1
  %35 = select i1 %32, i32 %34, i32 0
  %36 = xor i1 %32, true
  %37 = zext i1 %36 to i32
  %38 = add i32 %.0143, %37
  br label %17
39:
  %40 = ptrtoint ptr %0 to i32
  %41 = sub i32 0, %40
  %42 = and i32 %41, 63
  %43 = getelementptr inbounds i8, ptr %0, i32 %42
  store ptr %43, ptr %3
  %44 = load i32, ptr @constants_bytes
  %45 = icmp ne i32 %44, 0
  br i1 %45, label %46, label %64
46:
  %47 = load ptr, ptr @embedded
  %48 = icmp ne ptr %47, null
  br i1 %48, label %61, label %49
49:
  %50 = load atomic i32, ptr @weights acquire, align 4
  %51 = inttoptr i32 %50 to ptr
  %52 = load i8, ptr @has_files
  %53 = trunc i8 %52 to i1
  %.not = xor i1 %53, true
  %54 = icmp ne ptr %51, null
  %or.cond = select i1 %.not, i1 true, i1 %54
  br i1 %or.cond, label %61, label %55
55:
  %56 = call i32 @load_weights(ptr null)
  %57 = icmp eq i32 %56, 0
  br i1 %57, label %58, label %61
58:
  %59 = load atomic i32, ptr @weights acquire, align 4
  %60 = inttoptr i32 %59 to ptr
  br label %61
61:
  %.0164 = phi ptr [ %47, %46 ], [ %60, %58 ], [ %51, %55 ], [ %51, %49 ]
  %62 = getelementptr inbounds ptr, ptr %3, i32 1
  store ptr %.0164, ptr %62
  %63 = icmp ne ptr %.0164, null
  br i1 %63, label %64, label %.critedge
64:
  %65 = load i32, ptr @level_count
  %66 = icmp eq i32 %65, 1
  br i1 %66, label %74, label %67
67:
  %68 = load atomic i32, ptr @levels_found monotonic, align 4
  %69 = icmp ne i32 %68, 0
  br i1 %69, label %72, label %70
70:
  %71 = call i32 @count_levels()
  store atomic i32 %71, ptr @levels_found monotonic, align 4
  br label %72
72:
  %.0145 = phi i32 [ %68, %67 ], [ %71, %70 ]
  %73 = sub i32 %.0145, 1
  br label %74
74:
  %.0144 = phi i32 [ %73, %72 ], [ 0, %64 ]
  %75 = load i32, ptr @variant_count
  %76 = mul i32 %.0144, %75
  %77 = add i32 %76, %.0143
  %78 = getelementptr inbounds [0 x i32], ptr @code_starts, i32 0, i32 %77
  %79 = load i32, ptr %78
  %80 = load i8, ptr @has_wide
  %81 = trunc i8 %80 to i1
  %82 = select i1 %81, i32 8, i32 4
  %83 = mul i32 %79, %82
  %84 = getelementptr inbounds i8, ptr @code, i32 %83
  %85 = getelementptr inbounds ptr, ptr %3, i32 2
  %86 = load i32, ptr @binding_count
  %87 = getelementptr inbounds ptr, ptr %85, i32 %86
  br label %88
88:
  %.0191 = phi ptr [ %84, %74 ], [ %.6, %315 ]
  %.0165 = phi i32 [ 0, %74 ], [ %.3168, %315 ]
  %.0159 = phi i32 [ 0, %74 ], [ %.4, %315 ]
  %.0155 = phi ptr [ %84, %74 ], [ %.3158, %315 ]
  %.0150 = phi ptr [ %84, %74 ], [ %.3153, %315 ]
  %.0146 = phi ptr [ null, %74 ], [ %.3, %315 ]
  %89 = load i8, ptr @has_wide
  %90 = trunc i8 %89 to i1
  %91 = select i1 %90, i32 8, i32 4
  %92 = getelementptr inbounds i8, ptr %.0191, i32 %91
  br i1 %90, label %93, label %95
93:
  %94 = load i64, ptr %.0191
  br label %98
95:
  %96 = load i32, ptr %.0191
  %97 = sext i32 %96 to i64
  br label %98
98:
  %99 = phi i64 [ %94, %93 ], [ %97, %95 ]
  %100 = ashr i64 %99, 10
  %101 = and i64 %99, 7
  %102 = trunc i64 %101 to i32
  %103 = ashr i64 %99, 3
  %104 = and i64 %103, 127
  %105 = trunc i64 %104 to i32
  br label %106
106:
  %.1192 = phi ptr [ %92, %98 ], [ %.3194, %181 ]
  %.0169 = phi i32 [ 0, %98 ], [ %183, %181 ]
  %107 = icmp ult i32 %.0169, %105
  br i1 %107, label %108, label %184
108:
  %109 = load i8, ptr @has_wide
  %110 = trunc i8 %109 to i1
  %111 = select i1 %110, i32 8, i32 4
  %112 = getelementptr inbounds i8, ptr %.1192, i32 %111
  br i1 %110, label %113, label %115
113:
  %114 = load i64, ptr %.1192
  br label %118
115:
  %116 = load i32, ptr %.1192
  %117 = sext i32 %116 to i64
  br label %118
118:
  %119 = phi i64 [ %114, %113 ], [ %117, %115 ]
  %120 = ashr i64 %119, 2
  %121 = load i32, ptr @base_mask
  %122 = zext i32 %121 to i64
  %123 = and i64 %120, %122
  %124 = trunc i64 %123 to i32
  %125 = getelementptr inbounds ptr, ptr %3, i32 %124
  %126 = load ptr, ptr %125
  %127 = load i32, ptr @base_bits
  %128 = zext i32 %127 to i64
  %129 = ashr i64 %119, %128
  %130 = trunc i64 %129 to i32
  %131 = getelementptr inbounds i8, ptr %126, i32 %130
  %132 = load i8, ptr @has_loops
  %133 = trunc i8 %132 to i1
  %134 = and i64 %119, 1
  %135 = icmp ne i64 %134, 0
  %or.cond197 = and i1 %133, %135
  br i1 %or.cond197, label %136, label %151
136:
  %137 = load i8, ptr @has_wide
  %138 = trunc i8 %137 to i1
  %139 = select i1 %138, i32 8, i32 4
  %140 = getelementptr inbounds i8, ptr %112, i32 %139
  br i1 %138, label %141, label %143
141:
  %142 = load i64, ptr %112
  br label %146
143:
  %144 = load i32, ptr %112
  %145 = sext i32 %144 to i64
  br label %146
146:
  %147 = phi i64 [ %142, %141 ], [ %145, %143 ]
  %148 = trunc i64 %147 to i32
  %149 = mul nsw i32 %148, %.0159
  %150 = getelementptr inbounds i8, ptr %131, i32 %149
  br label %151
151:
  %.2193 = phi ptr [ %140, %146 ], [ %112, %118 ]
  %.0170 = phi ptr [ %150, %146 ], [ %131, %118 ]
  %152 = load i8, ptr @has_loops
  %153 = trunc i8 %152 to i1
  %154 = and i64 %119, 2
  %155 = icmp ne i64 %154, 0
  %or.cond199 = and i1 %153, %155
  br i1 %or.cond199, label %156, label %181
156:
  %157 = load i8, ptr @has_wide
  %158 = trunc i8 %157 to i1
  %159 = select i1 %158, i32 8, i32 4
  %160 = getelementptr inbounds i8, ptr %.2193, i32 %159
  br i1 %158, label %161, label %163
161:
  %162 = load i64, ptr %.2193
  br label %166
163:
  %164 = load i32, ptr %.2193
  %165 = sext i32 %164 to i64
  br label %166
166:
  %167 = phi i64 [ %162, %161 ], [ %165, %163 ]
  %168 = ashr i64 %167, 2
  %169 = load i32, ptr @base_mask
  %170 = zext i32 %169 to i64
  %171 = and i64 %168, %170
  %172 = trunc i64 %171 to i32
  %173 = getelementptr inbounds ptr, ptr %3, i32 %172
  %174 = load ptr, ptr %173
  %175 = load i32, ptr @base_bits
  %176 = zext i32 %175 to i64
  %177 = ashr i64 %167, %176
  %178 = trunc i64 %177 to i32
  %179 = getelementptr inbounds i8, ptr %174, i32 %178
  %180 = icmp ne i32 %.0159, 0
  %.0170. = select i1 %180, ptr %.0170, ptr %179
  br label %181
181:
  %.3194 = phi ptr [ %160, %166 ], [ %.2193, %151 ]
  %.1171 = phi ptr [ %.0170., %166 ], [ %.0170, %151 ]
  %182 = getelementptr inbounds ptr, ptr %87, i32 %.0169
  store ptr %.1171, ptr %182
  %183 = add i32 %.0169, 1
  br label %106
184:
  %185 = icmp eq i32 %102, 1
  br i1 %185, label %186, label %236
186:
  %187 = load i8, ptr @has_wide
  %188 = trunc i8 %187 to i1
  %189 = select i1 %188, i32 8, i32 4
  %190 = getelementptr inbounds i8, ptr %.1192, i32 %189
  br i1 %188, label %191, label %193
191:
  %192 = load i64, ptr %.1192
  br label %196
193:
  %194 = load i32, ptr %.1192
  %195 = sext i32 %194 to i64
  br label %196
196:
  %197 = phi i64 [ %192, %191 ], [ %195, %193 ]
  %198 = trunc i64 %197 to i32
  %199 = getelementptr inbounds i64, ptr @numbers, i32 %198
  %200 = ashr i64 %100, 11
  %201 = trunc i64 %200 to i32
  %202 = getelementptr inbounds [0 x ptr], ptr @kernels, i32 0, i32 %201
  %203 = load ptr, ptr %202
  store ptr %203, ptr %5
  %204 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 1
  store ptr %87, ptr %204
  %205 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 2
  store ptr %199, ptr %205
  %206 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 3
  %207 = load ptr, ptr %3
  %208 = load i32, ptr @arena_bytes
  %209 = getelementptr inbounds i8, ptr %207, i32 %208
  store ptr %209, ptr %206
  %210 = getelementptr inbounds %struct.job, ptr %5, i32 0, i32 4
  %211 = load i8, ptr @has_wide
  %212 = trunc i8 %211 to i1
  %213 = select i1 %212, i32 8, i32 4
  %214 = getelementptr inbounds i8, ptr %190, i32 %213
  br i1 %212, label %215, label %217
215:
  %216 = load i64, ptr %190
  br label %220
217:
  %218 = load i32, ptr %190
  %219 = sext i32 %218 to i64
  br label %220
220:
  %221 = phi i64 [ %216, %215 ], [ %219, %217 ]
  %222 = trunc i64 %221 to i32
  store i32 %222, ptr %210
  %223 = and i64 %100, 2047
  %224 = trunc i64 %223 to i32
  %225 = icmp ne ptr %1, null
  br i1 %225, label %226, label %235
226:
  %227 = load i32, ptr %1
  %228 = icmp ult i32 %227, %224
  %. = select i1 %228, i32 %227, i32 %224
  %229 = icmp ugt i32 %., 1
  br i1 %229, label %230, label %235
230:
  %231 = getelementptr inbounds %struct.webnn_object_parallel, ptr %1, i32 0, i32 1
  %232 = load ptr, ptr %231
  %233 = getelementptr inbounds %struct.webnn_object_parallel, ptr %1, i32 0, i32 2
  %234 = load ptr, ptr %233
  call void %232(ptr %234, i32 %., ptr @part, ptr %5)
  br label %315
235:
  call void @part(ptr %5, i32 0, i32 1)
  br label %315
236:
  %237 = load i8, ptr @has_copies
  %238 = trunc i8 %237 to i1
  %239 = icmp eq i32 %102, 2
  %or.cond200 = and i1 %238, %239
  br i1 %or.cond200, label %240, label %274
240:
  %241 = getelementptr inbounds ptr, ptr %87, i32 1
  %242 = load ptr, ptr %241
  %243 = load ptr, ptr %87
  %244 = load i8, ptr @has_wide
  %245 = trunc i8 %244 to i1
  %246 = select i1 %245, i32 8, i32 4
  %247 = getelementptr inbounds i8, ptr %.1192, i32 %246
  br i1 %245, label %248, label %250
248:
  %249 = load i64, ptr %.1192
  br label %253
250:
  %251 = load i32, ptr %.1192
  %252 = sext i32 %251 to i64
  br label %253
253:
  %254 = phi i64 [ %249, %248 ], [ %252, %250 ]
  %255 = trunc i64 %254 to i32
  %256 = ptrtoint ptr %242 to i32
  %257 = ptrtoint ptr %243 to i32
  %258 = or i32 %256, %257
  %259 = or i32 %258, %255
  %260 = and i32 %259, 7
  %261 = icmp ne i32 %260, 0
  br i1 %261, label %268, label %262
262:
  %.0 = phi i32 [ %266, %262 ], [ 0, %253 ]
  %263 = getelementptr inbounds i8, ptr %243, i32 %.0
  %264 = load i64, ptr %263
  %265 = getelementptr inbounds i8, ptr %242, i32 %.0
  store i64 %264, ptr %265
  %266 = add i32 %.0, 8
  %267 = icmp ult i32 %266, %255
  br i1 %267, label %262, label %315
268:
  %.1 = phi i32 [ %272, %268 ], [ 0, %253 ]
  %269 = getelementptr inbounds i8, ptr %243, i32 %.1
  %270 = load i8, ptr %269
  %271 = getelementptr inbounds i8, ptr %242, i32 %.1
  store i8 %270, ptr %271
  %272 = add i32 %.1, 1
  %273 = icmp ult i32 %272, %255
  br i1 %273, label %268, label %315
274:
  %275 = load i8, ptr @has_loops
  %276 = trunc i8 %275 to i1
  %277 = icmp uge i32 %102, 3
  %or.cond201 = and i1 %276, %277
  br i1 %or.cond201, label %278, label %.critedge
278:
  %279 = icmp eq i32 %102, 3
  br i1 %279, label %280, label %305
280:
  %281 = icmp ne i32 %105, 0
  br i1 %281, label %282, label %284
282:
  %283 = load ptr, ptr %87
  br label %284
284:
  %285 = phi ptr [ %283, %282 ], [ null, %280 ]
  %286 = load i8, ptr @has_wide
  %287 = trunc i8 %286 to i1
  %288 = select i1 %287, i32 8, i32 4
  %289 = getelementptr inbounds i8, ptr %.1192, i32 %288
  br i1 %287, label %290, label %292
290:
  %291 = load i64, ptr %.1192
  br label %295
292:
  %293 = load i32, ptr %.1192
  %294 = sext i32 %293 to i64
  br label %295
295:
  %296 = phi i64 [ %291, %290 ], [ %294, %292 ]
  %297 = trunc i64 %296 to i32
  %298 = load i8, ptr @has_wide
  %299 = trunc i8 %298 to i1
  %300 = select i1 %299, i32 8, i32 4
  %301 = sext i32 %300 to i64
  %302 = mul nsw i64 %100, %301
  %303 = trunc i64 %302 to i32
  %304 = getelementptr inbounds i8, ptr %289, i32 %303
  br label %305
305:
  %.1166 = phi i32 [ %297, %295 ], [ %.0165, %278 ]
  %.1160 = phi i32 [ -1, %295 ], [ %.0159, %278 ]
  %.1156 = phi ptr [ %304, %295 ], [ %.0155, %278 ]
  %.1151 = phi ptr [ %289, %295 ], [ %.0150, %278 ]
  %.1147 = phi ptr [ %285, %295 ], [ %.0146, %278 ]
  %306 = add nsw i32 %.1160, 1
  %307 = icmp eq i32 %306, %.1166
  br i1 %307, label %314, label %308
308:
  %309 = icmp ne ptr %.1147, null
  br i1 %309, label %310, label %315
310:
  %311 = load i8, ptr %.1147
  %312 = zext i8 %311 to i32
  %313 = icmp ne i32 %312, 0
  br i1 %313, label %314, label %315
314:
  br label %315
315:
  %.6 = phi ptr [ %214, %235 ], [ %214, %230 ], [ %247, %262 ], [ %247, %268 ], [ %.1156, %314 ], [ %.1151, %310 ], [ %.1151, %308 ]
  %.3168 = phi i32 [ %.0165, %235 ], [ %.0165, %230 ], [ %.0165, %262 ], [ %.0165, %268 ], [ %.1166, %314 ], [ %.1166, %310 ], [ %.1166, %308 ]
  %.4 = phi i32 [ %.0159, %235 ], [ %.0159, %230 ], [ %.0159, %262 ], [ %.0159, %268 ], [ 0, %314 ], [ %306, %310 ], [ %306, %308 ]
  %.3158 = phi ptr [ %.0155, %235 ], [ %.0155, %230 ], [ %.0155, %262 ], [ %.0155, %268 ], [ %.1156, %314 ], [ %.1156, %310 ], [ %.1156, %308 ]
  %.3153 = phi ptr [ %.0150, %235 ], [ %.0150, %230 ], [ %.0150, %262 ], [ %.0150, %268 ], [ %.1151, %314 ], [ %.1151, %310 ], [ %.1151, %308 ]
  %.3 = phi ptr [ %.0146, %235 ], [ %.0146, %230 ], [ %.0146, %262 ], [ %.0146, %268 ], [ %.1147, %314 ], [ %.1147, %310 ], [ %.1147, %308 ]
  br label %88
.critedge:
  %.0148 = phi i32 [ 5, %4 ], [ 6, %21 ], [ 3, %61 ], [ 0, %274 ], [ 5, %10 ]
  ret i32 %.0148
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
define internal i32 @count_levels() minsize optsize {
  ret i32 1
}
