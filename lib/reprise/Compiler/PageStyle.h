// reprise: the style and the script of our pages, which load no other resource
#ifndef REPRISE_COMPILER_PAGESTYLE_H
#define REPRISE_COMPILER_PAGESTYLE_H

namespace reprise::html {

/// Colours by the reader's theme; wide parts scroll by themselves, so that a page reads at 500 px.
inline constexpr char kStyle[] = R"css(
:root{color-scheme:light dark;--text:#222;--quiet:#666;--line:#ddd;--ground:#fff;--plot:#f4f4f1;
--forward:#8fb3d9;--saved:#4477aa;--replay:#cc8844;--backward:#8ab17d;--scratch:#b0a8b9;--mark:#b22}
@media(prefers-color-scheme:dark){:root{--text:#ddd;--quiet:#999;--line:#444;--ground:#1b1b1d;
--plot:#26262a;--forward:#5d7d9e;--saved:#6fa3d8;--replay:#d99a5b;--backward:#6f9a63;
--scratch:#7d7489;--mark:#f77}}
*{box-sizing:border-box}
body{font:14px/1.45 system-ui,sans-serif;margin:0 auto;padding:1em;max-width:1160px;
color:var(--text);background:var(--ground)}
h1{font-size:1.5em;margin:.4em 0 0}h2{font-size:1.15em;margin:1.6em 0 .4em}
.about{color:var(--quiet);margin:.2em 0 1em;overflow-wrap:anywhere}
.wide{overflow-x:auto}
table{border-collapse:collapse;margin:.5em 0}
th,td{text-align:left;padding:2px 12px 2px 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--quiet);font-weight:normal}
.data thead th{cursor:pointer;white-space:nowrap}
.data th[aria-sort=ascending]::after{content:" \25b2"}
.data th[aria-sort=descending]::after{content:" \25bc"}
.number{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.totals{display:flex;flex-wrap:wrap;gap:.4em 2em;margin:1em 0;padding:0}
.totals div{min-width:7em}.totals dt{color:var(--quiet);font-size:.9em}
.totals dd{margin:0;font-size:1.25em}
.bars{width:100%}.bars th{white-space:nowrap}.bars td{width:85%}
.bars td span{display:block;height:9px;margin:2px 0;min-width:1px}
figure{margin:0}
.plot{position:relative;margin:2px 0 22px 76px;background:var(--plot);touch-action:pan-y}
.plot svg{display:block;width:100%;height:100%}
.plot .tick{position:absolute;color:var(--quiet);font-size:11px;white-space:nowrap}
.plot .across{right:100%;padding-right:6px;transform:translateY(-50%)}
.plot .along{top:100%;margin-top:2px;transform:translateX(-50%)}
.plot .rule{position:absolute;top:0;bottom:0;border-left:1px dashed var(--text);pointer-events:none}
.plot .rule.peak{border-color:var(--mark)}
.plot .rule span{position:absolute;left:4px;top:2px;font-size:11px;white-space:nowrap;
background:var(--plot);opacity:.85}
.plot .rule.left span{left:auto;right:4px}
.plot .rule.peak span{color:var(--mark);top:18px}
.plot .brush{position:absolute;top:0;bottom:0;background:var(--text);opacity:.15;
pointer-events:none}
.forward{fill:var(--forward);background:var(--forward)}
.saved{fill:var(--saved);background:var(--saved)}
.replay{fill:var(--replay);background:var(--replay)}
.backward{fill:var(--backward);background:var(--backward)}
.scratch{fill:var(--scratch);background:var(--scratch)}
.plot rect{stroke:var(--plot);stroke-width:.5;vector-effect:non-scaling-stroke}
.plot rect:hover{opacity:.75}.plot rect.pinned{stroke:var(--mark);stroke-width:2}
.legend{display:flex;flex-wrap:wrap;gap:.2em 1.2em;margin:.4em 0 .4em 76px;font-size:12px}
.legend i{display:inline-block;width:11px;height:11px;margin-right:5px}
.info{min-height:1.5em;margin:.2em 0 .2em 76px;overflow-wrap:anywhere}
.chart svg{width:100%;min-width:560px;max-width:940px;font-size:12px;fill:var(--text)}
.chart .ground{fill:var(--plot)}.chart line{stroke:var(--line)}
.chart polyline{fill:none}.chart .cost,.chart .plan{stroke:var(--saved)}
.chart .plan{fill:var(--saved)}.chart .bound{stroke:var(--quiet);stroke-dasharray:5 4}
.chart .policy{fill:var(--replay)}.chart .default{fill:none;stroke:var(--mark);stroke-width:2}
.chart .quiet{fill:var(--quiet)}
input,button{font:inherit;color:inherit;background:var(--plot);border:1px solid var(--line);
padding:2px 8px;max-width:100%}
@media(max-width:600px){.plot,.legend,.info{margin-left:60px}.bars td{width:70%}}
)css";

/// Script of a page: tables sort by a click on a heading and filter by text; a figure zooms along
/// its launches and keeps a clicked buffer. Without a script the page shows the same content,
/// whole.
inline constexpr char kScript[] = R"js(
(() => {
  const make = (tag, text, parent) => {
    const element = document.createElement(tag);
    element.textContent = text;
    parent.append(element);
    return element;
  };
  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell.dataset.value === undefined ? cell.textContent : +cell.dataset.value;
  };
  const sort = (table, column) => {
    const heads = [...table.tHead.rows[0].cells], head = heads[column];
    const rows = [...table.tBodies[0].rows];
    const isNumber = rows.length && typeof valueOf(rows[0], column) === 'number';
    const next = {ascending: 'descending', descending: 'ascending'}[head.ariaSort] ||
                 (isNumber ? 'descending' : 'ascending');
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', next);
    const sign = next === 'ascending' ? 1 : -1;
    const compare = (a, b) => isNumber ? a - b : a.localeCompare(b, 'en', {numeric: true});
    rows.sort((a, b) => sign * compare(valueOf(a, column), valueOf(b, column)));
    table.tBodies[0].append(...rows);
  };
  const filter = (table, text, told) => {
    const words = text.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const line = row.textContent.toLowerCase();
      row.hidden = !words.every(word => line.includes(word));
      shown += !row.hidden;
    }
    told.textContent = ` ${shown} of ${table.tBodies[0].rows.length}`;
  };
  for (const table of document.querySelectorAll('table.data')) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      head.tabIndex = 0;
      head.onclick = () => sort(table, column);
      head.onkeydown = event => event.key === 'Enter' && sort(table, column);
    });
    if (table.tBodies[0].rows.length < 20)
      continue;
    const line = document.createElement('p');
    const input = make('input', '', line), told = make('span', '', line);
    input.type = 'search';
    input.placeholder = 'filter, such as: attention saved';
    input.size = 30;
    input.oninput = () => filter(table, input.value, told);
    table.parentNode.before(line);
  }

  const stepOf = range => {
    for (let power = 1;; power *= 10)
      for (const digit of [1, 2, 5])
        if (range <= digit * power * 10)
          return digit * power;
  };
  const prepare = figure => {
    const launches = +figure.dataset.launches, plots = [...figure.querySelectorAll('.plot')];
    const info = figure.querySelector('.info'), help = info.textContent;
    let from = 0, to = launches, pinned = null;
    const place = mark => {
      const at = (mark.dataset.x - from) / (to - from);
      mark.style.left = 100 * at + '%';
      mark.hidden = at < 0 || at > 1;
      mark.classList.toggle('left', at > .7);
    };
    const show = (first, last) => {
      from = Math.max(0, first);
      to = Math.min(launches, Math.max(last, from + 1));
      for (const plot of plots) {
        plot.querySelector('svg').setAttribute('viewBox', `${from} 0 ${to - from} 1000`);
        plot.querySelectorAll('.rule').forEach(place);
      }
      const axis = figure.querySelector('.axis'), step = stepOf(to - from);
      axis.querySelectorAll('.along').forEach(tick => tick.remove());
      for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
        const tick = make('span', at ? at : 'launch 0', axis);
        tick.className = 'tick along';
        tick.style.left = 100 * (at - from) / (to - from) + '%';
      }
    };
    const launchAt = (plot, event) => {
      const box = plot.getBoundingClientRect();
      return from + (to - from) * Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
    };
    const tell = box => info.textContent = box ? box.querySelector('title').textContent : help;
    for (const plot of plots) {
      let start = null, brush = null;
      plot.onpointerdown = event => start = launchAt(plot, event);
      plot.onpointermove = event => {
        if (start === null)
          return;
        const here = launchAt(plot, event), part = Math.abs(here - start) / (to - from);
        if (part > .01 && !brush) {
          brush = make('div', '', plot);
          brush.className = 'brush';
        }
        if (brush) {
          brush.style.left = 100 * (Math.min(here, start) - from) / (to - from) + '%';
          brush.style.width = 100 * part + '%';
        }
      };
      const end = event => {
        if (brush && event.type === 'pointerup') {
          const here = launchAt(plot, event);
          show(Math.floor(Math.min(here, start)), Math.ceil(Math.max(here, start)));
        } else if (event.type === 'pointerup') {
          if (pinned)
            pinned.classList.remove('pinned');
          const box = event.target.closest('rect');
          pinned = box === pinned ? null : box;
          if (pinned)
            pinned.classList.add('pinned');
          tell(pinned);
        }
        if (brush)
          brush.remove();
        start = brush = null;
      };
      plot.onpointerup = plot.onpointerleave = plot.onpointercancel = end;
      plot.onpointerover = event => pinned || tell(event.target.closest('rect'));
    }
    const buttons = document.createElement('p');
    const middle = () => (from + to) / 2, half = () => (to - from) / 2;
    make('button', 'zoom in', buttons).onclick = () => show(middle() - half() / 2,
                                                            middle() + half() / 2);
    make('button', 'zoom out', buttons).onclick = () => show(middle() - 2 * half(),
                                                             middle() + 2 * half());
    make('button', 'whole step', buttons).onclick = () => show(0, launches);
    figure.append(buttons);
    show(0, launches);
  };
  document.querySelectorAll('figure[data-launches]').forEach(prepare);
})();
)js";

} // namespace reprise::html

#endif // REPRISE_COMPILER_PAGESTYLE_H
