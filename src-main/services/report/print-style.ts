/** The style sheet for printed reports. */

/**
 * Style for a printed report: black on white, one type scale, aligned digits, and no page breaks
 * inside a piece of content.
 */
export const printStyle = `
@page {
  size: A4;
  margin: 15mm 15mm 15mm 15mm;
  @bottom-left { content: "Kernel Ladder report"; font: 7.5pt Helvetica, Arial, "Liberation Sans", sans-serif; color: #525b67 }
  @bottom-right { content: counter(page) " / " counter(pages); font: 7.5pt Helvetica, Arial, "Liberation Sans", sans-serif; color: #525b67 }
}
* { box-sizing: border-box }
html { color: #171a1f; font: 9pt/1.4 Helvetica, Arial, "Liberation Sans", sans-serif; font-variant-numeric: tabular-nums }
body { margin: 0 }
h1 { margin: 0 0 1mm; font-size: 16pt; line-height: 1.2 }
h2 { margin: 9mm 0 2mm; padding-top: 1.5mm; border-top: 0.7pt solid #171a1f; font-size: 13pt; break-after: avoid }
h3 { margin: 5mm 0 1.2mm; font-size: 10.5pt; break-after: avoid }
h4 { margin: 2.2mm 0 0.8mm; font-size: 9pt; break-after: avoid }
p, ul, ol, dl, figure { margin: 0 0 2mm }
ul, ol { padding-left: 5mm }
li { margin-bottom: 0.5mm }
code, pre { font: 0.88em/1.35 "DejaVu Sans Mono", "Liberation Mono", Menlo, Consolas, monospace }
.sub { color: #525b67 }
.note { max-width: 150mm; white-space: pre-line }
figcaption { margin-top: 1mm; color: #3b434d; font-size: 8.5pt }
.drawn { margin-bottom: 5mm }
.drawn svg { max-height: 114mm }
.best { font-size: 11pt }
.warning { padding: 1mm 2.5mm; border-left: 2.5pt solid #b04a00; background: #fdf3ec }
table { width: 100%; margin: 0 0 3mm; border-collapse: collapse; font-size: 8pt }
thead { display: table-header-group }
tr { break-inside: avoid }
th, td { padding: 0.55mm 1.6mm 0.55mm 0; border-bottom: 0.4pt solid #d9dde2; text-align: left; vertical-align: top; font-weight: 400 }
thead th { border-bottom: 0.7pt solid #525b67; color: #525b67; font-size: 7.5pt; vertical-align: bottom }
th.num, td.num { text-align: right; white-space: nowrap }
thead th.num { white-space: normal }
.num + th:not(.num), .num + td:not(.num) { padding-left: 3mm }
td, tbody th { overflow-wrap: anywhere }
tbody th { min-width: 32mm }
tbody th code { font-size: 7pt }
.published td { white-space: nowrap; font-size: 7.2pt }
sup { font-size: 6.5pt; line-height: 0 }
figure { break-inside: avoid }
svg { display: block; width: 100%; height: auto }
.pairs svg { max-height: 80mm }
.pairs { display: grid; grid-template-columns: 1fr 1fr; gap: 4mm 6mm }
.contents { margin: 5mm 0 0; padding: 0; list-style: none }
.contents li { display: flex; gap: 2mm; align-items: baseline }
.contents li.inner { padding-left: 5mm; font-size: 8.5pt }
.contents i { flex: 1; border-bottom: 0.5pt dotted #8f99a5 }
.contents a { color: inherit; text-decoration: none }
.contents span { min-width: 6mm; text-align: right }
.unmoved { color: #525b67; font-size: 7.5pt }
.diff { margin: 0 0 3mm; padding: 0; border: 0.4pt solid #d9dde2; font-size: 6.2pt; white-space: pre-wrap; overflow-wrap: anywhere; columns: 2; column-gap: 4mm; column-rule: 0.4pt solid #d9dde2 }
.diff span { display: block; padding-left: 0.8em }
.diff .long { padding-left: 2.2em; text-indent: -1.4em }
.diff .hunk { background: #f0f2f4; color: #525b67 }
.diff .added { border-left: 2pt solid #1a5fc4; background: #e9f1fc }
.diff .removed { border-left: 2pt solid #b04a00; background: #fdf0e4 }
.diff .same { border-left: 2pt solid transparent; color: #3b434d }
pre.lines { padding: 1.5mm 2mm; background: #f6f7f9; font-size: 7.5pt; white-space: pre-wrap; overflow-wrap: anywhere }
.hash { font-size: 5.4pt; white-space: nowrap }
`

/**
 * Style for the draft printout. Only headings are visible. All other content is invisible but keeps
 * its space, so that the headings are at their final positions.
 */
export const draftStyle = `
section > * { visibility: hidden }
section > h2, section > h3 { visibility: visible }
`
