/* The page about a run: one HTML file that needs nothing else. Sections stand in page_*.c; here are
 * the frame, the style sheet and the cards at the top. Every text from the record passes
 * svg_escape() (by svg_printf()), so a task's name cannot become markup. */
#include "report/page.h"
#include "report/human.h"
#include "report/page_parts.h"
#include "report/svg.h"

#include <math.h>
#include <stdio.h>
#include <time.h>

/* The pictures bring their own style for white paper: classes h s l t m e n belong to them. On a
 * dark page their paper becomes transparent and their ink light, but for text that stands on a
 * coloured box (in a <g>). */
static const char sheet[] =
    ":root{color-scheme:light dark;--page:#f4f6f8;--card:#fff;--ink:#1a1f26;--soft:#59636f;"
    "--line:#e2e6eb;--accent:#1f6fb2;--good:#1a7f4b;--bad:#c4302b;--warn:#a15c00;--tint:#eef4fa}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#12161a;--card:#1b2026;--ink:#e6eaee;"
    "--soft:#9aa6b2;--line:#2e363f;--accent:#6cb2ee;--good:#4cc38a;--bad:#ff7b72;--warn:#f0b35c;"
    "--tint:#212a33}\n"
    "figure svg text{fill:#cfd6dd}figure svg text.t,figure svg text.s{fill:#9aa6b2}"
    "figure svg text[style]{fill:#ff9b6b!important}figure svg g text{fill:#16191d}\n"
    "figure svg rect[fill=\"#fff\"]{fill:none}figure svg rect[fill=\"#f3f4f6\"]{fill:#ffffff0d}\n"
    "figure svg path[stroke=\"#000\"],figure svg path[stroke=\"#ddd\"]{stroke:#fff}\n"
    "figure svg path[stroke=\"#ddd\"]{stroke-opacity:.15}\n"
    "figure svg path[stroke=\"#fff\"]{stroke:none}\n"
    "figure svg path[fill=none]:not([stroke=\"#000\"]){filter:brightness(1.45)}}\n"
    "*{box-sizing:border-box}html{-webkit-text-size-adjust:100%}\n"
    "body{margin:0;background:var(--page);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"
    "'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}\n"
    "main,header,footer{max-width:1240px;margin:0 auto;padding:0 20px}\n"
    "header{padding-top:30px}h1{font-size:28px;line-height:1.2;margin:0;overflow-wrap:break-word}\n"
    "h2{font-size:18px;margin:0 0 2px}p{margin:0 0 10px}.note{color:var(--soft);font-size:14px}\n"
    ".top{display:flex;flex-wrap:wrap;align-items:center;gap:8px 14px}\n"
    ".pill{border-radius:99px;padding:2px 12px;font-weight:600;font-size:14px;color:#fff;"
    "background:#6b7682}.pill.done{background:#1a7f4b}.pill.failed,.pill.lost{background:#c4302b}"
    ".pill.running,.pill.cancelled{background:#a15c00}\n"
    ".where{color:var(--soft);margin:6px 0 0;overflow-wrap:anywhere}\n"
    ".cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:12px;"
    "margin:20px 0;padding:0;list-style:none}\n"
    ".cards li,section{background:var(--card);border:1px solid var(--line);border-radius:10px}\n"
    ".cards li{padding:12px 16px}.cards .what{color:var(--soft);font-size:13px;display:block}\n"
    ".cards b{font-size:22px;font-weight:650;display:block;line-height:1.3}\n"
    ".cards small{color:var(--soft);font-size:13px;text-wrap:balance}\n"
    "nav{display:flex;flex-wrap:wrap;gap:4px 16px;margin:0 0 16px;font-size:14px}\n"
    "a{color:var(--accent)}nav a{text-decoration:none}nav a:hover{text-decoration:underline}\n"
    "section{padding:16px 20px 18px;margin:0 0 16px;scroll-margin-top:10px}\n"
    "section.bad{border-left:5px solid var(--bad)}\n"
    "figure{margin:10px 0 0;overflow:auto;border-radius:6px}\n"
    ":focus-visible{outline:2px solid var(--accent);outline-offset:2px}\n"
    "figure svg{display:block;width:100%;height:auto;min-width:720px}\n"
    ".two{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr));"
    "gap:8px 24px}.two h3{font-size:14px;margin:12px 0 0;font-weight:600}\n"
    ".two figure svg{min-width:380px}\n"
    "figure.graph{max-height:85vh}figure.graph svg{width:auto;max-width:none;min-width:0;"
    "margin:0 auto}\n"
    ".wide{overflow-x:auto;margin-top:10px}\n"
    "table{border-collapse:collapse;width:100%;font-size:14px}\n"
    "th{font-weight:600;text-align:left;color:var(--soft);font-size:13px;"
    "border-bottom:1px solid var(--line);padding:5px 10px;white-space:nowrap}\n"
    "td{padding:5px 10px;border-bottom:1px solid var(--line);vertical-align:top}\n"
    "tr:last-child td{border-bottom:0}td.name{overflow-wrap:break-word;min-width:9em}\n"
    "td.r,th.r{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
    "td.b{width:22%;min-width:90px}.b i{display:block;height:12px;margin-top:5px;border-radius:3px;"
    "min-width:2px;background:var(--accent);opacity:.75}.b i.x{background:var(--bad)}\n"
    ".good{color:var(--good)}.off{color:var(--warn)}.wrong{color:var(--bad)}\n"
    ".cause{margin:0 0 14px}.cause h3{margin:0}.cause p{margin:0 0 4px}.hint{font-weight:600}\n"
    "pre{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;white-space:pre-wrap;"
    "overflow-wrap:anywhere;margin:0 0 4px;padding:6px 8px;border-left:3px solid var(--soft)}\n"
    "code{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}\n"
    ".sr{position:absolute;left:-9999px}.sr:focus{position:static}\n"
    "footer{color:var(--soft);font-size:13px;padding-top:4px;padding-bottom:28px}\n"
    "@media(max-width:600px){main,header,footer{padding-left:12px;padding-right:12px}"
    "section{padding:12px 14px}.cards{grid-template-columns:repeat(2,1fr)}.cards b{font-size:19px}"
    "h1{font-size:23px}}\n"
    "@media print{body{background:#fff}section{break-inside:avoid}nav{display:none}}\n";

/* Sections are landmarks: their heading labels them for readers that do not see the page. */
void page_section(struct page *p, const char *id, const char *title, const char *note)
{
    svg_printf(p->out, "<section id=\"%s\" aria-labelledby=\"%s-h\"><h2 id=\"%s-h\">%s</h2>\n", id,
               id, id, title);
    if (note)
        svg_printf(p->out, "<p class=\"note\">%s</p>\n", note);
}

void page_section_end(struct page *p)
{
    strbuf_add(p->out, "</section>\n");
}

/* A figure can be scrolled, so it can be focused. */
void page_figure(struct page *p, const char *class, const char *label)
{
    svg_printf(p->out, "<figure class=\"%s\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">\n",
               class, label);
}

void page_figure_end(struct page *p)
{
    strbuf_add(p->out, "</figure>\n");
}

/* In UTC, so that the same record gives the same page everywhere. */
static void add_when(struct strbuf *out, double started)
{
    time_t at = (time_t)started;
    struct tm parts;
    char text[64];
    if (!(started > 0 && started < 2.5e11) || !gmtime_r(&at, &parts))
        return;
    if (strftime(text, sizeof text, "%-d %B %Y, %H:%M:%S UTC", &parts))
        strbuf_printf(out, "<time>%s</time>", text);
}

/* Which run, when, where, of what file: what is not known is left out. */
static void add_where(struct page *p)
{
    const struct run_record *r = p->r;
    strbuf_add(p->out, "<p class=\"where\">");
    if (r->run > 0)
        strbuf_printf(p->out, "Run %lld · ", (long long)r->run);
    add_when(p->out, r->started);
    if (r->host && *r->host)
        svg_printf(p->out, " on %s", r->host);
    if (r->cores)
        svg_printf(p->out, " (%u %s)", r->cores, r->cores == 1 ? "core" : "cores");
    if (r->file && *r->file)
        svg_printf(p->out, " · <code>%s</code>", r->file);
    if (r->folder && *r->folder)
        svg_printf(p->out, " in <code>%s</code>", r->folder);
    if (r->planner && *r->planner)
        svg_printf(p->out, " · order of %s", r->planner);
    strbuf_add(p->out, "</p>\n");
}

/* One figure with what it is and what it is compared with. */
static void page_card(struct page *p, const char *what, const char *figure, const char *more)
{
    svg_printf(p->out, "<li><span class=\"what\">%s</span><b>%s</b><small>%s</small></li>\n", what,
               figure, more);
}

/* ", predicted 16 s (+25 %)" */
static void add_predicted(struct strbuf *out, double real, double promised, bool bytes)
{
    char a[HUMAN_SIZE];
    if (!isfinite(promised) || promised <= 0) /* 0: nothing is known of any task */
        return;
    strbuf_printf(out, "%spredicted %s", out->n ? ", " : "",
                  bytes ? human_bytes(a, promised) : human_seconds(a, promised));
    if (isfinite(real))
        strbuf_printf(out, " (%.*s\u00a0%%)",
                      (int)strcspn(human_change(a, real / promised - 1), " "), a);
}

static void add_cards(struct page *p)
{
    const struct run_record *r = p->r;
    /* what stands small below each figure */
    struct strbuf more = {0};
    char a[HUMAN_SIZE], b[HUMAN_SIZE];
    strbuf_add(p->out, "<ul class=\"cards\">\n");
    add_predicted(&more, r->seconds, r->predicted_seconds, false);
    page_card(p, "Time", human_seconds(a, r->seconds), strbuf_text(&more));
    strbuf_clear(&more);
    strbuf_printf(&more, "of %s", human_count(b, r->tasks));
    if (r->reused)
        strbuf_printf(&more, ", %s reused", human_count(b, r->reused));
    if (r->untaken)
        strbuf_printf(&more, ", %s skipped", human_count(b, r->untaken));
    if (r->skipped > r->untaken)
        strbuf_printf(&more, ", %s not run", human_count(b, r->skipped - r->untaken));
    page_card(p, "Tasks that ran", human_count(a, r->ran), strbuf_text(&more));
    if (r->failed)
        page_card(p, "Tasks that failed", human_count(a, r->failed), "see below");
    if (!isnan(p->f.used)) {
        strbuf_clear(&more);
        strbuf_printf(&more, "of %u held by tasks", r->cores);
        if (!isnan(p->f.computed))
            strbuf_printf(&more, ", %s computing", human_percent(b, p->f.computed));
        page_card(p, "Cores", human_percent(a, p->f.used), strbuf_text(&more));
    }
    if (isfinite(r->peak_memory) && r->peak_memory > 0) {
        strbuf_clear(&more);
        if (isfinite(r->memory) && r->memory > 0)
            strbuf_printf(&more, "of %s", human_bytes(b, r->memory));
        add_predicted(&more, r->peak_memory, r->predicted_memory, true);
        page_card(p, "Memory at its peak", human_bytes(a, r->peak_memory), strbuf_text(&more));
    }
    if (isfinite(r->peak_disk) && r->peak_disk > 0) {
        strbuf_clear(&more);
        add_predicted(&more, r->peak_disk, r->predicted_disk, true);
        page_card(p, "Disk at its peak", human_bytes(a, r->peak_disk), strbuf_text(&more));
    }
    if (p->f.read + p->f.written > 0) {
        strbuf_clear(&more);
        strbuf_printf(&more, "written, %s read", human_bytes(b, p->f.read));
        page_card(p, "Data", human_bytes(a, p->f.written), strbuf_text(&more));
    }
    strbuf_free(&more);
    strbuf_add(p->out, "</ul>\n");
}

/* Links to the sections that will be there: the conditions are those of the sections themselves. */
static void add_contents(struct page *p)
{
    strbuf_add(p->out, "<nav aria-label=\"On this page\">");
    if (p->f.failures.n)
        strbuf_add(p->out, "<a href=\"#failures\">Failures</a>");
    if (p->f.attempts)
        strbuf_add(p->out, "<a href=\"#timeline\">Timeline</a><a href=\"#load\">Load</a>");
    if (p->f.npath)
        strbuf_add(p->out, "<a href=\"#path\">Critical path</a>");
    if (p->f.kind.n)
        strbuf_add(p->out, "<a href=\"#kinds\">Kinds</a><a href=\"#slowest\">Slowest tasks</a>");
    strbuf_add(p->out, "<a href=\"#predictions\">Predicted and real</a>");
    if (p->r->workflow && p->r->workflow->ntasks)
        strbuf_add(p->out, "<a href=\"#graph\">Graph</a>");
    if (p->r->files.n)
        strbuf_add(p->out, "<a href=\"#files\">Files</a>");
    strbuf_add(p->out, "</nav>\n");
}

/* The same record gives the same bytes. */
void report_page(const struct run_record *r, struct strbuf *out)
{
    struct page p = {.r = r, .out = out};
    figures_of(&p.f, r);
    if (r->workflow)
        kinds_of_record(&p.kinds, r->workflow); /* as the Run view has them */
    const char *name = r->name && *r->name ? r->name : "Run", *outcome;
    outcome = record_outcome_name(r->outcome);
    strbuf_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"/>\n"
                    "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\"/>\n"
                    "<meta name=\"generator\" content=\"weft " WEFT_VERSION "\"/>\n");
    svg_printf(out, "<title>%s: %s</title>\n<style>\n", name, outcome);
    strbuf_add(out, sheet);
    strbuf_add(out,
               "</style></head><body>\n<a class=\"sr\" href=\"#main\">Skip to the report</a>\n");
    svg_printf(out,
               "<header><div class=\"top\"><h1>%s</h1><span class=\"pill %s\">%s</span></div>\n",
               name, outcome, outcome);
    add_where(&p);
    add_cards(&p);
    add_contents(&p);
    strbuf_add(out, "</header>\n<main id=\"main\">\n");
    page_failures(&p);
    page_timeline(&p);
    page_load(&p);
    page_path(&p);
    page_kinds(&p);
    page_slowest(&p);
    page_predictions(&p);
    page_graph(&p);
    page_files(&p);
    strbuf_add(out, "</main>\n<footer>Made by weft " WEFT_VERSION
                    " from its record of the run. This page needs nothing else: keep it, "
                    "mail it, open it offline.</footer>\n</body></html>\n");
    kinds_free(&p.kinds);
    figures_free(&p.f);
}
