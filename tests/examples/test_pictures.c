/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The examples that look at pictures, run as programs on the networks in $WEBNN_SHARED/models. */
#include "tools/tool_support.h"

#include <cjson/cJSON.h>

static struct picture read_picture(const char *path)
{
    struct picture p;

    assert_done(picture_read(path, &p, &e));
    return p;
}

/* Returns the largest difference of two pictures' levels; they must be as large. */
static int difference(const struct picture *a, const struct picture *b)
{
    int worst = 0;

    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    for (size_t i = 0; i < (size_t)3 * a->width * a->height; i++)
        if (abs(a->rgb[i] - b->rgb[i]) > worst)
            worst = abs(a->rgb[i] - b->rgb[i]);
    return worst;
}

TEST(classify_says_lesser_panda)
{
    const char *m = needed_model("mobilenetv2");

    runs(0, "", "%s/classify %s", EXAMPLES, m); /* the JPEG in the folder */
    assert_printed("960 x 635 pixels, seen as 224 x 224");
    assert_printed("\n 99.5");
    assert_printed("%  387  lesser panda\n");
    runs(1, "", "%s/classify %s %s/test_224.png --labels /nonexistent", EXAMPLES, m, m);
    runs(1, "classes.txt", "%s/classify %s %s/classes.txt", EXAMPLES, m, m);
    runs(2, "", "%s/classify", EXAMPLES);
}

/* Reads the line of JSON that ends with the index-th line end and checks path and class; expected is -1 for an error. */
static void assert_line(int index, const char *path, int expected)
{
    const char *line = printed, *end = NULL;

    for (; index > 0 && line; index--)
        line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL;
    OWNED(json) cJSON *j = line ? cJSON_ParseWithOpts(line, &end, false) : NULL;
    if (!j || *end != '\n')
        fail_msg("no line of JSON for %s in: %s", path, printed);
    const cJSON *top = cJSON_GetArrayItem(cJSON_GetObjectItem(j, "top"), 0);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(j, "input")), path);
    assert_int_equal(cJSON_GetObjectItem(j, "error") != NULL, expected < 0);
    if (expected >= 0) {
        assert_true(cJSON_GetNumberValue(cJSON_GetObjectItem(j, "ms")) > 0);
        assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(top, "class")), expected);
        assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(top, "label")), "lesser panda");
        assert_in_range((int)(1e4 * cJSON_GetNumberValue(cJSON_GetObjectItem(top, "probability"))), 9900, 10000);
    }
}

TEST(classify_takes_folders_and_lists)
{
    const char *m = needed_model("mobilenetv2");

    runs(0, "", "mkdir -p many/sub && cp %s/test.jpg many/c.jpg && cp %s/test_224.png many/sub/d.png", m, m);
    runs(0, "", "%s/classify %s many", EXAMPLES, m);
    assert_line(0, "many/c.jpg", 387);
    assert_line(1, "many/sub/d.png", 387);
    write_text("many/b.jpg", "this is no picture");
    runs(1, "", "%s/classify %s many", EXAMPLES, m);
    assert_line(0, "many/b.jpg", -1);
    assert_line(1, "many/c.jpg", 387);
    assert_line(2, "many/sub/d.png", 387);
    write_text("list", "many/sub/d.png\nmany/absent.png\n");
    runs(1, "", "%s/classify %s many/c.jpg --list list", EXAMPLES, m);
    assert_line(0, "many/c.jpg", 387);
    assert_line(1, "many/sub/d.png", 387);
    assert_line(2, "many/absent.png", -1);
    assert_printed("classify: 1 of 3 inputs failed; their lines say why\n");
    runs(2, "", "%s/classify %s - --list list </dev/null", EXAMPLES, m);
    runs(1, "there are no pictures", "%s/classify %s --list - </dev/null", EXAMPLES, m);
    runs(1, "absent: No such file or directory", "%s/classify %s --list absent", EXAMPLES, m);
}

/* Reads "score 0.9999  box 0.1 0.2 0.3 0.4" lines.  Returns how many. */
static int read_faces(double faces[16][5])
{
    int count = 0;

    for (const char *p = strstr(printed, "score "); p && count < 16; p = strstr(p + 1, "score "), count++)
        assert_int_equal(sscanf(p, "score %lf  box %lf %lf %lf %lf", &faces[count][4], &faces[count][0], &faces[count][1],
                                &faces[count][2], &faces[count][3]),
                         5);
    return count;
}

/* Every face of the manifest is among those found, within `tolerance` of the picture's size, and there are as many. */
static void assert_faces(const char *model, double tolerance)
{
    double faces[16][5];
    int count = read_faces(faces);
    const cJSON *detections, *d;
    char path[4224], *text;
    size_t length;

    snprintf(path, sizeof path, "%s/manifest.json", model);
    assert_true(file_read(path, &text, &length, NULL));
    OWNED(json) cJSON *root = cJSON_Parse(text);
    detections = cJSON_GetObjectItem(cJSON_GetArrayItem(cJSON_GetObjectItem(root, "cases"), 0), "detections");
    assert_int_equal(count, cJSON_GetArraySize(detections));
    cJSON_ArrayForEach(d, detections)
    {
        bool found = false;

        for (int i = 0; i < count; i++) {
            bool near = fabs(cJSON_GetObjectItem(d, "score")->valuedouble - faces[i][4]) <= tolerance;

            for (int k = 0; k < 4; k++)
                near &= fabs(cJSON_GetArrayItem(cJSON_GetObjectItem(d, "box"), k)->valuedouble - faces[i][k]) <= tolerance;
            found |= near;
        }
        assert_true(found);
    }
    free(text);
}

TEST(find_faces_draws_five_boxes)
{
    const char *m = needed_model("ultraface-rfb-320");
    struct picture before, after, large;
    char path[4224];
    size_t changed = 0, green = 0;

    runs(0, "5 faces", "%s/find_faces %s %s/image_320x240.png faces.png", EXAMPLES, m, m);
    assert_faces(m, 2e-4); /* the manifest has four decimals */
    snprintf(path, sizeof path, "%s/image_320x240.png", m);
    before = read_picture(path);
    after = read_picture("faces.png");
    for (size_t i = 0; i < (size_t)320 * 240; i++) {
        changed += memcmp(&before.rgb[3 * i], &after.rgb[3 * i], 3) != 0;
        green += after.rgb[3 * i] == 40 && after.rgb[3 * i + 1] == 230 && after.rgb[3 * i + 2] == 60;
    }
    /* Five frames around boxes of about 21 by 29 pixels. */
    assert_int_equal(changed, green);
    assert_in_range(green, 5 * 80, 5 * 120);
    /* The same picture larger: the network sees a copy that was enlarged and reduced again. */
    assert_true(picture_resize(&before, 1000, 750, &large, NULL));
    assert_true(picture_write("large.png", &large, NULL));
    runs(0, "", "%s/find_faces %s large.png faces.png", EXAMPLES, m);
    assert_faces(m, 0.02);
    runs(0, "0 faces", "%s/find_faces %s large.png faces.png --score 1", EXAMPLES, m);
    picture_free(&before);
    picture_free(&after);
    picture_free(&large);
    m = shared_model("mobilenetv2");
    runs(1, "", "%s/find_faces %s large.png faces.png", EXAMPLES, m ? m : "absent");
}

TEST(stylise_paints_the_reference)
{
    const char *m = needed_model("fast-style-transfer");
    SCOPED(picture_free) struct picture painted = {0}, expected = {0};
    char path[4224];

    runs(0, "", "%s/stylise %s %s/input.png painted.png", EXAMPLES, m, m);
    painted = read_picture("painted.png");
    snprintf(path, sizeof path, "%s/expected_output.png", m);
    expected = read_picture(path);
    assert_in_range(difference(&painted, &expected), 0, 1); /* rounding to levels at a half */
}

/* Copies the part from (x, y) on. */
static struct picture cut(const struct picture *from, uint32_t x, uint32_t y, uint32_t width, uint32_t height)
{
    struct picture to;

    assert_true(picture_create(width, height, &to, NULL));
    for (uint32_t row = 0; row < height; row++)
        memcpy(&to.rgb[3 * (size_t)row * width], &from->rgb[3 * ((size_t)(y + row) * from->width + x)], 3 * (size_t)width);
    return to;
}

TEST(upscale_has_no_seams)
{
    const char *m = needed_model("super-resolution");
    struct picture small, large, expected, both, part, a, b;
    char path[4224];

    snprintf(path, sizeof path, "%s/image_y_224.png", m);
    small = read_picture(path);
    snprintf(path, sizeof path, "%s/expected_y_672.png", m);
    expected = read_picture(path);
    runs(0, "224 x 224 pixels to 672 x 672 in 1 tile;", "%s/upscale %s %s/image_y_224.png large.png", EXAMPLES, m, m);
    large = read_picture("large.png");
    assert_in_range(difference(&large, &expected), 0, 1);
    picture_free(&large);
    /* A picture of several tiles: a part of it, away from the part's own border, is the same as in the whole. */
    assert_true(picture_resize(&small, 500, 330, &both, NULL));
    part = cut(&both, 130, 60, 224, 224);
    assert_true(picture_write("both.png", &both, NULL) && picture_write("part.png", &part, NULL));
    runs(0, "500 x 330 pixels to 1500 x 990 in 6 tiles;", "%s/upscale %s both.png both3.png", EXAMPLES, m);
    runs(0, "", "%s/upscale %s part.png part3.png", EXAMPLES, m);
    picture_free(&both);
    picture_free(&part);
    both = read_picture("both3.png");
    part = read_picture("part3.png");
    a = cut(&both, 3 * (130 + 6), 3 * (60 + 6), 3 * 212, 3 * 212);
    b = cut(&part, 3 * 6, 3 * 6, 3 * 212, 3 * 212);
    assert_in_range(difference(&a, &b), 0, 1);
    picture_free(&a);
    picture_free(&b);
    picture_free(&both);
    picture_free(&part);
    picture_free(&small);
    picture_free(&expected);
}

TEST_GROUP(enter_folder, leave_folder)
TESTS_NEED(shared_model(""))
