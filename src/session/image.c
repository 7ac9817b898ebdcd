/* The file of an image: mapped, checked and copied; written beside and renamed.
 *
 * I1. A body is looked into only after its checksum was right and its head was of this text and this
 *     build.
 * I2. Nobody writes into an image that is there: a new one takes its name. So a mapping stays what
 *     it was, whoever else runs in the folder. */
#include "session/image.h"

#include "base/crc32c.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/strbuf.h"
#include "base/tree.h"
#include "model/image.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { IMAGE_LEAST = 1 << 20 }; /* bytes of text: less is read in a few hundredths of a second */

struct image_head {
    char magic[8];
    struct digest key;
    uint64_t bytes;
    uint32_t body_crc, head_crc;
};

static const char image_magic[8] = {'w', 'e', 'f', 't', 'i', 'm', 'a', 'g'};

static uint32_t image_head_crc(const struct image_head *head)
{
    return crc32c(0, head, offsetof(struct image_head, head_crc));
}

struct image_mapping {
    void *at;
    size_t size;
};

static void image_unmap(void *mapping)
{
    const struct image_mapping *m = mapping;
    munmap(m->at, m->size);
}

/* I1. */
static struct workflow *image_parse(const struct image *i, const char *at, size_t size)
{
    struct image_head head;
    if (size < sizeof head)
        return NULL;
    memcpy(&head, at, sizeof head);
    if (memcmp(head.magic, image_magic, sizeof head.magic) != 0 ||
        head.head_crc != image_head_crc(&head) || !digest_equal(&head.key, &i->key) ||
        head.bytes != size - sizeof head ||
        head.body_crc != crc32c(0, at + sizeof head, head.bytes))
        return NULL;
    return workflow_image_read(at + sizeof head, head.bytes);
}

static struct workflow *image_load(const struct image *i)
{
    struct stat st;
    int fd = open(i->path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    struct image_mapping m = {MAP_FAILED, 0};
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        m.size = (size_t)st.st_size;
        m.at = mmap(NULL, m.size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    }
    close(fd);
    if (m.at == MAP_FAILED)
        return NULL;
    struct mem_guard guard;
    mem_guard_enter(&guard, image_unmap, &m);
    struct workflow *w = image_parse(i, m.at, m.size);
    mem_guard_leave(&guard);
    image_unmap(&m);
    return w;
}

struct workflow *image_read_workflow(struct image *i, const char *state, struct format_file *file,
                                     struct error *err)
{
    *i = (struct image){0};
    if (format_file_length(file) >= IMAGE_LEAST && format_file_digest(file, &i->key)) {
        struct strbuf path = {0};
        strbuf_printf(&path, "%s/image-%s", state, file_basename(format_file_path(file)));
        i->path = strbuf_steal(&path);
        struct workflow *w = image_load(i);
        i->stands = w != NULL;
        if (w)
            return w;
    }
    return format_file_workflow(file, err);
}

/* ---- writing ---- */

/* The space that tasks will want is not ours to take: at most a tenth of what is free. */
static bool image_fits(const struct image *i, uint64_t bytes)
{
    struct statvfs disk;
    char *folder = file_beside(i->path, ".");
    bool known = statvfs(folder, &disk) == 0;
    free(folder);
    return known && (double)bytes < 0.1 * (double)disk.f_bavail * (double)disk.f_frsize;
}

/* Of a weft that was killed while it wrote one: no small file. */
static void image_drop_unfinished(const char *path)
{
    char *folder = file_beside(path, ".");
    struct strbuf name = {0};
    DIR *d = opendir(folder);
    struct dirent *e;
    while (d && (e = readdir(d)) != NULL)
        if (strncmp(e->d_name, "image-", 6) == 0 && strstr(e->d_name, ".tmp-"))
            unlink(path_in(folder, e->d_name, &name));
    if (d)
        closedir(d);
    strbuf_free(&name);
    free(folder);
}

void image_keep(struct image *i, const struct workflow *w)
{
    struct image_head head = {.key = i->key};
    struct file_out out;
    if (!i->path || i->stands || w->outside)
        return;
    image_drop_unfinished(i->path);
    struct image_sink count = {0};
    workflow_image_write(w, &count);
    if (!image_fits(i, count.bytes) || !file_out_open(&out, i->path, NULL))
        return;
    memcpy(head.magic, image_magic, sizeof head.magic);
    struct image_sink body = {.stream = out.stream};
    bool good = fwrite(&head, sizeof head, 1, out.stream) == 1;
    workflow_image_write(w, &body);
    head.bytes = body.bytes;
    head.body_crc = body.crc;
    head.head_crc = image_head_crc(&head);
    good = good && !body.failed && fseek(out.stream, 0, SEEK_SET) == 0 &&
           fwrite(&head, sizeof head, 1, out.stream) == 1;
    if (good)
        i->stands = file_out_commit(&out, NULL);
    else
        file_out_abandon(&out);
}

void image_free(struct image *i)
{
    free(i->path);
    *i = (struct image){0};
}
