#include "formats/registry.h"
#include "formats/index_rows.h"

#define ROOT "<?xml version=\"1.0\"?>\n<adag name=\"n\" version=\"2.1\">\n"
#define END "</adag>\n"

static double size_of(const struct workflow *w, const char *object)
{
    uint32_t o = workflow_find_object(w, object);
    return o == NONE ? -1 : w->size[o];
}

static uint32_t readers_of(const struct workflow *w, const char *object)
{
    uint32_t o = workflow_find_object(w, object), n = 0;
    if (o != NONE)
        workflow_consumers(w, o, &n);
    return n;
}

static void test_edges_and_files(void)
{
    struct error err;
    struct workflow *w =
        read_text(&format_dax,
                  ROOT "<child ref=\"c\"><parent ref=\"a\"/><parent ref=\"b\"/></child>\n"
                       "<job id=\"a\" name=\"make\" runtime=\"1.5\" cores=\"4\">\n"
                       "  <uses file=\"in\" link=\"input\" size=\"7\"/>\n"
                       "  <uses file=\"x\" link=\"output\" size=\"10\"/>\n"
                       "  <uses file=\"log\" link=\"output\" size=\"1\"/>\n"
                       "</job>\n"
                       "<job id=\"b\" name=\"make\">\n"
                       "  <uses file=\"log\" link=\"output\" size=\"2\"/>\n"
                       "  <uses file=\"y\" link=\"output\"/>\n"
                       "</job>\n"
                       "<job id=\"c\" name=\"join\" runtime=\"0\">\n"
                       "  <uses file=\"x\" link=\"input\" size=\"11\"/>\n"
                       "  <uses file=\"log\" link=\"input\"/>\n"
                       "</job>\n"
                       "<job id=\"d\" name=\"aside\" runtime=\"2\">\n"
                       "  <uses file=\"y\" link=\"input\"/>\n"
                       "  <uses file=\"z\" link=\"inout\"/>\n"
                       "</job>\n"
                       "<job id=\"e\" name=\"order\" runtime=\"2\"/>\n"
                       "<child ref=\"e\"><parent ref=\"c\"/><parent ref=\"c\"/></child>\n" END,
                  NULL, &err);
    if (!ok(w, "a DAX with everything reads %s", err.text))
        return;
    is_int(w->ntasks, 5, "five tasks");
    is_int(w->npairs, 3, "only the stated edges");
    is_int(w->nedges, 4, "one of them with two files");
    ok(has_edge(w, "a", "c") && has_edge(w, "b", "c") && has_edge(w, "c", "e") &&
           !has_edge(w, "b", "d"),
       "these edges, and none from a file alone");
    is_str(workflow_text(w, w->format), "dax-2.1", "the version");
    is_str(workflow_text(w, w->kind[0]), "make", "the transformation is the kind");
    is_dbl(w->work[0], 1.5, 0, "runtime is the work");
    is_int(w->cores[0], 4, "cores");
    is_dbl(size_of(w, "x"), 10, 0, "the first size counts");
    is_dbl(size_of(w, "log@b"), 1, 0, "the second writer's object");
    is_int(readers_of(w, "log"), 1, "the first writer's is read");
    is_int(readers_of(w, "log@b"), 1, "and the second's");
    is_int(readers_of(w, "in"), 1, "a file nobody writes is an input");
    is_int(w->ninputs, 1, "the only one");
    is_int(readers_of(w, "y"), 0, "a file read without an edge has no reader");
    ok(has_warning(w, "1 time a job reads a file of a job"), "which is said");
    ok(has_warning(w, "another size than before, 2 times"), "so are the sizes");
    ok(has_warning(w, "1 file is written by several jobs"), "and the writers");
    ok(has_warning(w, "1 of 5 jobs have no runtime"), "and the runtime that is missing");
    ok(has_warning(w, "a file that only it writes"), "and the inout file");
    workflow_free(w);

    w = read_text(
        &format_dax,
        "<p:adag xmlns:p='http://pegasus.isi.edu/schema/DAX' version='3.6' jobCount='9'>\n"
        "<file name='f'><metadata key='size'>3</metadata></file>\n"
        "<transformation name='t'><uses name='exe' executable='true'/></transformation>\n"
        "<dax id='s' file='sub.dax'><uses name='f' link='input'/></dax>\n"
        "<dag id='g' name='g.dag'/>\n"
        "<job id='j' name='t'><argument>-i <file name='f'/></argument>"
        "<profile namespace='pegasus' key='runtime'> 12 </profile>"
        "<uses name='f' link='output'><metadata key='size'>2048</metadata></uses>"
        "<uses name='exe' executable='true'/></job>\n"
        "<child ref='s'><parent ref='j' edge-label='x'/></child>\n"
        "</p:adag>",
        NULL, &err);
    if (ok(w, "a DAX 3 with sub-workflows and a prefix reads %s", err.text)) {
        is_int(w->ntasks, 3, "sub-workflows are tasks");
        is_str(workflow_text(w, w->kind[0]), "sub.dax", "with their file as kind");
        is_dbl(w->work[2], 12, 0, "runtime from the profile");
        is_dbl(size_of(w, "f"), 2048, 0, "size from the metadata");
        is_int(w->nobjects, 1, "executables are no data");
        is_int(w->npairs, 1, "one edge");
        ok(has_warning(w, "the header claims 9 jobs; there are 3"), "a wrong jobCount is told");
    }
    workflow_free(w);
    w = read_text(&format_dax,
                  ROOT "<job id='a' runtime='-1'><uses file='x' link='input' size='-4'/></job>" END,
                  NULL, &err);
    ok(w && w->work[0] == 0 && has_warning(w, "1 of 1 job has a negative runtime"),
       "a negative runtime is 0, with a warning");
    ok(w && w->size[0] == 0 && has_warning(w, "1 uses of a file state a negative size"),
       "so is a negative size");
    workflow_free(w);
    w = read_text(&format_dax, "<adag/>", NULL, &err);
    ok(w && w->ntasks == 0, "an empty adag is an empty workflow %s", err.text);
    workflow_free(w);
}

static void test_errors(void)
{
    const struct format *f = &format_dax;
    refuses(f, "", "the file is empty", "an empty file");
    refuses(f, " \n", "the file is empty", "a blank file");
    refuses(f, "hello", "test-file:1: not valid XML", "no XML");
    refuses(f, "<html></html>", "the root element is <html>; expected <adag>", "other XML");
    refuses(f, ROOT "<job id='a' name='x'>\n", "test-file:4: not valid XML", "a truncated file");
    refuses(f, ROOT "<job id='a'></jab>\n" END, "test-file:3: not valid XML: mismatched tag",
            "a wrong end tag");
    refuses(f, ROOT "<job name='a'/>\n" END, "test-file:3: a <job> has no id", "no id");
    refuses(f, ROOT "<job id=''/>\n" END, "empty name", "an empty id");
    refuses(f, ROOT "<job id='a'/>\n<job id='a'/>\n" END,
            "test-file:4: task 'a' is defined twice; the first stands on line 3", "an id twice");
    refuses(f, ROOT "<job id='a' runtime='x'/>\n" END, "test-file:3: runtime is 'x'",
            "a runtime that is no number");
    refuses(f, ROOT "<job id='a' runtime='NaN'/>\n" END, "runtime is 'NaN'",
            "a runtime that is NaN");
    refuses(f, ROOT "<job id='a'><uses file='x' link='input' size='4M'/></job>\n" END,
            "test-file:3: size is '4M'", "a size that is no number");
    refuses(f, ROOT "<job id='a'><uses link='input'/></job>\n" END, "names no file",
            "a use of nothing");
    refuses(f, ROOT "<job id='abcd'/>\n<child ref='abcd'>\n<parent ref='abce'/></child>\n" END,
            "test-file:5: a dependency names the job 'abce', which is not in the file; did you "
            "mean 'abcd'?",
            "a dangling parent");
    refuses(f, ROOT "<job id='a'/>\n<child ref='q'><parent ref='a'/></child>\n" END, "the job 'q'",
            "a dangling child");
    refuses(f, ROOT "<child/>\n" END, "a <child> has no ref", "a child without ref");
    refuses(f, ROOT "<child ref='a'><parent/></child>\n" END, "a <parent> has no ref",
            "a parent without ref");
    refuses(f, ROOT "<job id='a'/><child ref='a'><parent ref='a'/></child>\n" END,
            "depends on itself", "a self loop");
    refuses(f,
            ROOT "<job id='a'/><job id='b'/><child ref='a'><parent ref='b'/></child>"
                 "<child ref='b'><parent ref='a'/></child>\n" END,
            "in a cycle: a -> b -> a", "a cycle");
    refuses(f, "<?xml version='1.0'?>\n<!DOCTYPE a [\n<!ENTITY x 'yyyy'>\n]><adag>&x;</adag>",
            "test-file:3: the entity 'x' is declared", "an entity");
    refuses(f, "<!DOCTYPE a [<!ENTITY % x SYSTEM '/etc/passwd'> %x;]><adag/>", "entity",
            "an external entity");
    refuses(f, ROOT "<job id='\xff'/>\n" END, "test-file:3: not valid XML", "a wrong encoding");
    struct strbuf deep = {0};
    strbuf_add(&deep, "<adag>");
    for (int i = 0; i < 1000000; i++)
        strbuf_add(&deep, "<a>");
    refuses(f, deep.at, "nested more than 100 deep", "a million levels");
    strbuf_free(&deep);
}

static void test_sniff(void)
{
    static const struct {
        const char *text;
        int sure;
    } cases[] = {
        {"<?xml version='1.0'?>\n<!-- c -->\n<adag/>", 3},
        {" \n<adag/>", 3},
        {"\xef\xbb\xbf<adag/>", 3},
        {"<html/>", 1},
        {"pegasus: 5.0", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_int(format_dax.sniff("x.dax", cases[i].text, strlen(cases[i].text)), cases[i].sure,
               "sniffing, case %zu", i);
}

static void test_shared(void)
{
    if (!tap_shared()) {
        tap_skip("the DAX files of the shared data", "no shared data here");
        return;
    }
    is_int(index_check(&format_dax, "dax/", ""), 17, "all DAX files of the table");
    struct error err = {0};
    struct workflow *w = index_read(&format_dax, "dax/Montage_25.xml", NULL, &err);
    if (ok(w, "Montage_25 reads")) {
        ok(has_warning(w, "another size than before, 49 times"),
           "with its 49 sizes that are not the first");
        is_dbl(w->work[0], 13.39, 0, "the work of its first job");
        is_dbl(size_of(w, "region.hdr"), 304, 0, "the size of an input");
        is_dbl(size_of(w, "p2mass-atlas-ID00000s-jID00000.fits"), 4167312, 0,
               "of an intermediate file");
    }
    workflow_free(w);
    w = index_read(&format_dax, "dax/Epigenomics_997.xml", NULL, &err);
    ok(w && has_warning(w, "57 of 997 jobs have a negative runtime"),
       "Epigenomics_997 has impossible runtimes");
    workflow_free(w);
    w = index_read(&format_dax, "dax/HEFT_paper.xml", NULL, &err);
    ok(w && has_warning(w, "the header claims 25 jobs; there are 10"),
       "HEFT_paper lies about its jobs");
    workflow_free(w);
    w = index_read(&format_dax, "dax/broadband.dax", NULL, &err);
    ok(w && has_warning(w, "64 of 64 jobs have no runtime") &&
           has_warning(w, "32 files are written by several"),
       "broadband has no runtimes, and files with several writers");
    workflow_free(w);
    w = index_read(&format_dax, "dax/floodplain.xml", NULL, &err);
    ok(w && strcmp(workflow_text(w, w->format), "dax") == 0, "floodplain has no version");
    workflow_free(w);
}

int main(void)
{
    static const struct tap_case cases[] = {
        TAP_CASE(test_edges_and_files),
        TAP_CASE(test_errors),
        TAP_CASE(test_sniff),
        TAP_CASE(test_shared),
    };
    return tap_run(cases, sizeof cases / sizeof *cases);
}
