/* The stand-in for libnrt: the documented prototypes, over host memory.
 *
 * It checks the order of calls, names and sizes; a call that the real library would leave undefined
 * is a violation, which the tests read with stand_in_violations(). It runs the listing that the
 * stand-in compiler writes (sg00/listing.txt of a plain archive), so a few programs give numbers.
 * stand_in_fail() makes one function return a status; stand_in_live() counts what was not freed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int NRT_STATUS;
enum { SUCCESS = 0, FAILURE = 1, INVALID = 2, INVALID_HANDLE = 3, RESOURCE = 4,
       UNSUPPORTED_VERSION = 10, UNINITIALIZED = 13, CLOSED = 14, BAD_INPUT = 1002 };

#define NAME_MAX_BYTES 256
#define MAX_TENSORS 64
#define MAX_LINES 256
#define DEVICE_BYTES (1u << 30)

typedef struct {
    char name[NAME_MAX_BYTES];
    int usage;
    size_t size;
    int dtype;
    uint32_t *shape;
    uint32_t ndim;
} tensor_info;

typedef struct {
    uint64_t count;
    tensor_info entries[];
} tensor_info_array;

typedef struct {
    uint32_t magic;
    size_t size;
    unsigned char *data;
} tensor;

typedef struct {
    uint32_t magic;
    int count;
    char names[MAX_TENSORS][NAME_MAX_BYTES];
    tensor *tensors[MAX_TENSORS];
} tensor_set;

typedef struct {
    uint32_t magic;
    int tensor_count;
    tensor_info tensors[MAX_TENSORS];
    uint32_t shapes[MAX_TENSORS][8];
    int line_count;
    char lines[MAX_LINES][1024];
} model;

enum { TENSOR = 0x7E4504, SET = 0x5E7, MODEL = 0x30DE1 };

static enum { NEW, OPEN, ENDED } state = NEW;
static pid_t owner;
static int live_models, live_tensors, live_sets, live_infos;
static size_t used_bytes;
static char violations[4096];
static char call_log[1 << 16];
static char failing[64];
static NRT_STATUS failure;
static int failing_after;

static void violate(const char *what) {
    strncat(violations, what, sizeof violations - strlen(violations) - 2);
    strncat(violations, "\n", sizeof violations - strlen(violations) - 1);
}

/* What every function does first: order, process, and the injected failure. */
static NRT_STATUS enter(const char *function) {
    strncat(call_log, function, sizeof call_log - strlen(call_log) - 2);
    strncat(call_log, "\n", sizeof call_log - strlen(call_log) - 1);
    if (state == NEW) return violate("call before nrt_init"), UNINITIALIZED;
    if (state == ENDED) return violate("call after nrt_close"), CLOSED;
    if (getpid() != owner) return violate("call in a forked process"), FAILURE;
    if (strcmp(failing, function) == 0 && failing_after-- == 0) {
        failing[0] = 0;
        return failure;
    }
    return SUCCESS;
}

#define ENTER NRT_STATUS entered = enter(__func__); if (entered != SUCCESS) return entered

/* For the tests. */
void stand_in_fail(const char *function, NRT_STATUS status, int after) {
    snprintf(failing, sizeof failing, "%s", function);
    failure = status;
    failing_after = after;
}
const char *stand_in_violations(void) { return violations; }
const char *stand_in_calls(void) { return call_log; }
int stand_in_live(void) { return live_models + live_tensors + live_sets + live_infos; }
void stand_in_forget(void) { violations[0] = call_log[0] = failing[0] = 0; }

NRT_STATUS nrt_init(int framework, const char *fw_version, const char *fal_version) {
    if (state == OPEN) violate("nrt_init twice");
    if (framework != 1 || !fw_version || !fal_version) return INVALID;
    const char *status = getenv("STAND_IN_INIT_STATUS");
    if (status && *status) return atoi(status);
    state = OPEN;
    owner = getpid();
    return enter("nrt_init");
}

void nrt_close(void) {
    if (enter("nrt_close") != SUCCESS) return;
    if (stand_in_live()) violate("nrt_close while something is still allocated");
    state = ENDED;
    const char *report = getenv("STAND_IN_REPORT");
    if (report && *report) {
        FILE *file = fopen(report, "w");
        fprintf(file, "closed\n%s", violations);
        fclose(file);
    }
}

static int dtype_code(const char *name) {
    static const struct { const char *name; int code; } table[] = {
        {"FP8_E4", 0xE}, {"FP8_E5", 0xF}, {"FLOAT16", 7}, {"BFLOAT16", 6}, {"FLOAT32", 0xA},
        {"UINT8", 3}, {"UINT16", 5}, {"UINT32", 9}, {"UINT64", 1}, {"INT8", 2}, {"INT16", 4},
        {"INT32", 8}, {"INT64", 0xC}, {"UNKNOWN", 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0) return table[i].code;
    return -1;
}

static size_t dtype_bytes(int code) {
    switch (code) {
        case 2: case 3: case 0xE: case 0xF: return 1;
        case 4: case 5: case 6: case 7: return 2;
        case 1: case 0xC: return 8;
        default: return 4;
    }
}

/* The content of a member of a plain tar, or NULL. */
static const char *member(const char *tar, size_t size, const char *name, size_t *length) {
    for (size_t at = 0; at + 512 <= size && tar[at];) {
        size_t bytes = strtoull(tar + at + 124, NULL, 8);
        const char *found = tar + at;
        if (strncmp(found, "./", 2) == 0) found += 2;
        if (strcmp(found, name) == 0) return *length = bytes, tar + at + 512;
        at += 512 + (bytes + 511) / 512 * 512;
    }
    return NULL;
}

static NRT_STATUS parse_line(model *made, char *line) {
    char usage[16], dtype[16], name[NAME_MAX_BYTES];
    int ndim, taken;
    if (strncmp(line, "tensor ", 7) != 0) {
        snprintf(made->lines[made->line_count++], sizeof *made->lines, "%s", line);
        return SUCCESS;
    }
    if (sscanf(line, "tensor %255s %15s %15s %d%n", name, usage, dtype, &ndim, &taken) != 4)
        return INVALID;
    int index = made->tensor_count++;
    tensor_info *info = &made->tensors[index];
    snprintf(info->name, sizeof info->name, "%s", name);
    info->usage = strcmp(usage, "input") ? 1 : 0;
    info->dtype = dtype_code(dtype);
    info->ndim = ndim;
    info->shape = made->shapes[index];
    info->size = dtype_bytes(info->dtype);
    char *rest = line + taken;
    for (int d = 0; d < ndim; d++) info->size *= info->shape[d] = strtoul(rest, &rest, 10);
    return SUCCESS;
}

NRT_STATUS nrt_load(const void *neff, size_t size, int32_t vnc, int32_t vnc_count, model **result) {
    ENTER;
    if (vnc < -1 || vnc_count != -1 || !neff || size < 1024) return INVALID;
    const uint64_t *header = neff;
    if (header[1] != 1024 || header[2] != size - 1024) return INVALID;
    if (header[3] > 2) return UNSUPPORTED_VERSION;
    size_t length;
    const char *tar = (const char *)neff + 1024;
    const char *listing = member(tar, size - 1024, "sg00/listing.txt", &length);
    if (!listing) return INVALID;
    model *made = calloc(1, sizeof *made);
    made->magic = MODEL;
    char *copy = strndup(listing, length), *save = NULL;
    NRT_STATUS status = SUCCESS;
    for (char *line = strtok_r(copy, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        if (status == SUCCESS) status = parse_line(made, line);
    free(copy);
    if (status != SUCCESS) return free(made), status;
    live_models++;
    *result = made;
    return SUCCESS;
}

NRT_STATUS nrt_unload(model *target) {
    ENTER;
    if (!target || target->magic != MODEL) return violate("nrt_unload of no model"), INVALID_HANDLE;
    target->magic = 0;
    free(target);
    live_models--;
    return SUCCESS;
}

NRT_STATUS nrt_get_model_tensor_info(model *target, tensor_info_array **result) {
    ENTER;
    if (!target || target->magic != MODEL) return INVALID_HANDLE;
    size_t bytes = target->tensor_count * sizeof(tensor_info);
    tensor_info_array *made = malloc(sizeof *made + bytes);
    made->count = target->tensor_count;
    memcpy(made->entries, target->tensors, bytes);
    live_infos++;
    *result = made;
    return SUCCESS;
}

NRT_STATUS nrt_free_model_tensor_info(tensor_info_array *target) {
    ENTER;
    memset(target->entries, 0xDD, target->count * sizeof(tensor_info));
    free(target);
    live_infos--;
    return SUCCESS;
}

NRT_STATUS nrt_allocate_tensor_set(tensor_set **result) {
    ENTER;
    *result = calloc(1, sizeof **result);
    (*result)->magic = SET;
    live_sets++;
    return SUCCESS;
}

void nrt_destroy_tensor_set(tensor_set **target) {
    if (enter("nrt_destroy_tensor_set") != SUCCESS) return;
    if (!*target || (*target)->magic != SET) { violate("destroyed no tensor set"); return; }
    (*target)->magic = 0;
    free(*target);
    *target = NULL;
    live_sets--;
}

NRT_STATUS nrt_add_tensor_to_tensor_set(tensor_set *set, const char *name, tensor *value) {
    ENTER;
    if (!set || set->magic != SET || !value || value->magic != TENSOR) return INVALID_HANDLE;
    if (set->count == MAX_TENSORS) return RESOURCE;
    snprintf(set->names[set->count], NAME_MAX_BYTES, "%s", name);
    set->tensors[set->count++] = value;
    return SUCCESS;
}

NRT_STATUS nrt_tensor_allocate(int placement, int vnc, size_t size, const char *name, tensor **result) {
    ENTER;
    if (placement != 0 || vnc < 0) return INVALID;
    if (used_bytes + size > DEVICE_BYTES) return RESOURCE;
    (void)name;
    tensor *made = calloc(1, sizeof *made);
    made->magic = TENSOR;
    made->size = size;
    made->data = calloc(1, size ? size : 1);
    used_bytes += size;
    live_tensors++;
    *result = made;
    return SUCCESS;
}

void nrt_tensor_free(tensor **target) {
    if (enter("nrt_tensor_free") != SUCCESS) return;
    if (!*target || (*target)->magic != TENSOR) { violate("freed no tensor"); return; }
    used_bytes -= (*target)->size;
    free((*target)->data);
    (*target)->magic = 0;
    free(*target);
    *target = NULL;
    live_tensors--;
}

NRT_STATUS nrt_tensor_write(tensor *target, const void *data, size_t offset, size_t size) {
    ENTER;
    if (!target || target->magic != TENSOR) return INVALID_HANDLE;
    if (offset + size > target->size) return violate("write beyond a tensor"), INVALID;
    memcpy(target->data + offset, data, size);
    return SUCCESS;
}

NRT_STATUS nrt_tensor_read(const tensor *source, void *data, size_t offset, size_t size) {
    ENTER;
    if (!source || source->magic != TENSOR) return INVALID_HANDLE;
    if (offset + size > source->size) return violate("read beyond a tensor"), INVALID;
    memcpy(data, source->data + offset, size);
    return SUCCESS;
}

static tensor *named(const tensor_set *set, const char *name) {
    for (int i = 0; i < set->count; i++)
        if (strcmp(set->names[i], name) == 0 && set->tensors[i]->magic == TENSOR)
            return set->tensors[i];
    return NULL;
}

static double number(int dtype, const unsigned char *data, size_t i) {
    switch (dtype) {
        case 0xA: return ((const float *)data)[i];
        case 8: return ((const int32_t *)data)[i];
        case 0xC: return (double)((const int64_t *)data)[i];
        case 3: return data[i];
        default: return 0;
    }
}

static void put(int dtype, unsigned char *data, size_t i, double value) {
    switch (dtype) {
        case 0xA: ((float *)data)[i] = (float)value; break;
        case 8: ((int32_t *)data)[i] = (int32_t)value; break;
        case 0xC: ((int64_t *)data)[i] = (int64_t)value; break;
        case 3: data[i] = value != 0; break;
    }
}

static double apply(const char *op, double a, double b) {
    if (strcmp(op, "add") == 0) return a + b;
    if (strcmp(op, "subtract") == 0) return a - b;
    if (strcmp(op, "multiply") == 0) return a * b;
    if (strcmp(op, "maximum") == 0) return a > b ? a : b;
    if (strcmp(op, "negate") == 0) return -a;
    return a; /* copy */
}

/* One element at a time through the whole listing, since every operation is by element. */
static NRT_STATUS run(const model *target, const tensor_set *in, tensor_set *out) {
    size_t elements = 0;
    for (int t = 0; t < target->tensor_count; t++)
        elements = target->tensors[t].size / dtype_bytes(target->tensors[t].dtype);
    for (size_t i = 0; i < elements; i++) {
        char names[MAX_LINES][32];
        double values[MAX_LINES];
        int known = 0;
        for (int line = 0; line < target->line_count; line++) {
            char op[16], name[32], a[32] = "", b[32] = "";
            if (sscanf(target->lines[line], "%15s %31s %31s %31s", op, name, a, b) < 2) return INVALID;
            double operand[2] = {0, 0};
            for (int side = 0; side < 2; side++) {
                const char *wanted = side ? b : a;
                for (int k = 0; k < known; k++)
                    if (strcmp(names[k], wanted) == 0) operand[side] = values[k];
                for (int t = 0; t < target->tensor_count; t++)
                    if (strcmp(target->tensors[t].name, wanted) == 0)
                        operand[side] = number(target->tensors[t].dtype, named(in, wanted)->data, i);
            }
            double value = apply(op, operand[0], operand[1]);
            snprintf(names[known], sizeof names[known], "%s", name);
            values[known++] = value;
            for (int t = 0; t < target->tensor_count; t++)
                if (strcmp(target->tensors[t].name, name) == 0)
                    put(target->tensors[t].dtype, named(out, name)->data, i, value);
        }
    }
    return SUCCESS;
}

NRT_STATUS nrt_execute(model *target, const tensor_set *in, tensor_set *out) {
    ENTER;
    if (!target || target->magic != MODEL || !in || in->magic != SET || !out || out->magic != SET)
        return violate("executed with a bad handle"), INVALID_HANDLE;
    for (int t = 0; t < target->tensor_count; t++) {
        const tensor_info *info = &target->tensors[t];
        tensor *found = named(info->usage ? out : in, info->name);
        if (!found || found->size != info->size) return violate("missing or ill-sized tensor"), INVALID;
    }
    NRT_STATUS status = run(target, in, out);
    if (status == SUCCESS && getenv("STAND_IN_EXECUTE_STATUS"))
        status = atoi(getenv("STAND_IN_EXECUTE_STATUS"));
    return status;
}
