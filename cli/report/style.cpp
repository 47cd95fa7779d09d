#include "cli/report/parts.h"

namespace adapvae::cli {
namespace {

// Colours of clusters (--k…) keep the hues of Okabe and Ito, which people with any colour vision
// tell apart, darker or lighter so that each has a contrast of 3 : 1 or more to the paper. Shades
// of the confusion matrix (--s…) come with a colour of text (--i…) of 4.5 : 1 or more.
constexpr std::string_view kStyle = R"css(
:root{color-scheme:light;--paper:#fdfcfa;--ink:#1d1c1a;--muted:#5f5c56;--line:#e5e2dc;--soft:#f4f2ee;
--edge:#b9b5ac;--link:#0b5c99;--hot:#b83a00;--cool:#64849e;--shade:rgba(60,50,30,.22);
--k0:#0b66a8;--k1:#c24a00;--k2:#007a5a;--k3:#a8487f;--k4:#9a6a00;--k5:#2b8bbd;--k6:#6a4fa3;--k7:#757000;--k8:#5b6168;
--s1:#e8f1f8;--s2:#d3e4f1;--s3:#b7d3e8;--s4:#96bfdd;--s5:#74aad0;--s6:#2f74ab;--s7:#21639a;--s8:#155286;--s9:#0a3f6d;
--i1:#1d1c1a;--i2:#1d1c1a;--i3:#1d1c1a;--i4:#1d1c1a;--i5:#1d1c1a;--i6:#fff;--i7:#fff;--i8:#fff;--i9:#fff}
@media screen and (prefers-color-scheme:dark){:root{color-scheme:dark;--paper:#131518;--ink:#e9e7e3;--muted:#a5a29b;
--line:#2b2e33;--soft:#1b1e22;--edge:#565b63;--link:#8cc4f0;--hot:#ff9360;--cool:#7d9ab5;--shade:rgba(0,0,0,.75);
--k0:#5aa7e4;--k1:#ff8a4c;--k2:#2fc497;--k3:#e893c2;--k4:#efb02e;--k5:#97d7ff;--k6:#b6a0e6;--k7:#ddd668;--k8:#a8b0b9;
--s1:#182430;--s2:#1c2f42;--s3:#213c56;--s4:#264a6b;--s5:#2c5a82;--s6:#6fabd8;--s7:#8abde3;--s8:#a7cfec;--s9:#c6e1f4;
--i1:#e9e7e3;--i2:#e9e7e3;--i3:#e9e7e3;--i4:#f4f2ef;--i5:#fff;--i6:#0b1116;--i7:#0b1116;--i8:#0b1116;--i9:#0b1116}}
*{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,Inter,"Helvetica Neue",Arial,sans-serif;
font-variant-numeric:tabular-nums}
header,main,nav,footer{max-width:1280px;margin:0 auto;padding:0 clamp(16px,3.4vw,48px)}
header{padding-top:clamp(28px,5vw,64px)}
h1{font-size:clamp(1.55rem,1.2rem + 1.6vw,2.3rem);line-height:1.15;letter-spacing:-.02em;font-weight:650;margin:0 0 .5rem;
overflow-wrap:anywhere;text-wrap:balance}
.lead{font-size:clamp(1.02rem,.96rem + .3vw,1.18rem);line-height:1.5;max-width:54em;margin:0 0 .4rem;text-wrap:pretty}
.made{color:var(--muted);font-size:.87rem;margin:0;overflow-wrap:anywhere}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(112px,1fr));margin:1.8rem 0 0;padding:0;
border-top:1px solid var(--ink);gap:0 20px}
.tiles div{padding:.7rem 0 .5rem;display:flex;flex-direction:column-reverse;justify-content:flex-end}
.tiles dt{color:var(--muted);font-size:.82rem;line-height:1.3}
.tiles dd{margin:0;font-size:1.55rem;line-height:1.2;font-weight:600;letter-spacing:-.02em;white-space:nowrap}
.tiles .hot{color:var(--hot)}
nav{font-size:.87rem;margin-top:1.4rem}
nav ul{list-style:none;margin:0;padding:.55rem 0;display:flex;flex-wrap:wrap;gap:.2rem 1.25rem;border:solid var(--line);border-width:1px 0}
nav a{display:inline-block;padding:.15rem 0}
a{color:var(--link);text-decoration:none}
a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
section{padding:2.4rem 0 2.2rem;border-bottom:1px solid var(--line);scroll-margin-top:8px}
main>section:last-child{border-bottom:0}
h2{font-size:1.18rem;line-height:1.3;letter-spacing:-.01em;font-weight:650;margin:0 0 .45rem}
h3{font-size:.95rem;font-weight:650;margin:1.8rem 0 .5rem}
.body>h3:first-child{margin-top:0}
.side p,.body>p{margin:0 0 .7rem;overflow-wrap:anywhere;max-width:62ch;text-wrap:pretty}
.side p{color:var(--muted);font-size:.87rem;line-height:1.5}
.body{min-width:0}
.quiet{color:var(--muted)}
@media (min-width:1040px){section{display:grid;grid-template-columns:216px minmax(0,1fr);gap:0 44px}
.side{position:sticky;top:1.4rem;align-self:start}}
.small,.empty{color:var(--muted);font-size:.87rem}
.legend{list-style:none;margin:.2rem 0 .8rem;padding:0;display:flex;flex-wrap:wrap;gap:.25rem .95rem;font-size:.84rem;line-height:1.4}
.legend li{display:flex;align-items:baseline;gap:.42rem;min-width:0}
.legend li span{overflow-wrap:anywhere}
@media (min-width:1040px){.legend{display:grid;grid-template-columns:repeat(auto-fill,minmax(96px,1fr));gap:.25rem .5rem}.legend.rows{display:block}.body .legend{grid-template-columns:repeat(auto-fill,minmax(132px,1fr));margin-top:1rem}.legend.rows li{padding:.1rem 0}}
.sw{width:13px;height:13px;flex:none;vertical-align:-1.5px;overflow:visible}
.scroll{overflow-x:auto;max-width:100%;position:relative;
background:linear-gradient(to right,var(--paper) 40%,transparent) 0 0/28px 100% no-repeat local,linear-gradient(to left,var(--paper) 40%,transparent) 100% 0/28px 100% no-repeat local,
linear-gradient(to right,var(--shade),transparent) 0 0/9px 100% no-repeat scroll,linear-gradient(to left,var(--shade),transparent) 100% 0/9px 100% no-repeat scroll}
.scroll>svg{display:block;width:100%}
svg{height:auto}
svg.wide{min-width:820px}
svg.map{min-width:680px}
.t{font-size:12px;fill:var(--muted)}
.e{text-anchor:end}.m{text-anchor:middle}
.b{font-weight:650;fill:var(--ink)}
.i{fill:var(--ink)}
.halo{paint-order:stroke;stroke:var(--paper);stroke-width:4px;stroke-linejoin:round}
.id{font-size:14px;font-weight:700;fill:var(--ink)}
.axis,.grid,.edge,.rule,.fold{fill:none;stroke:var(--edge);stroke-width:1}
.grid{stroke:var(--line)}
.fold{stroke-dasharray:1.5 3.5}
.rule{stroke:var(--hot);stroke-dasharray:5 4}
.frame{fill:var(--soft)}
.k0{color:var(--k0)}.k1{color:var(--k1)}.k2{color:var(--k2)}.k3{color:var(--k3)}.k4{color:var(--k4)}
.k5{color:var(--k5)}.k6{color:var(--k6)}.k7{color:var(--k7)}.k8{color:var(--k8)}.kn{color:var(--muted)}.hot{color:var(--hot)}.ink{color:var(--ink)}
.fill{fill:currentColor}
.ribbon{fill:currentColor;fill:color-mix(in srgb,currentColor 80%,var(--paper))}
.rest{stroke:currentColor;stroke-width:1.6;stroke-dasharray:.1 4;stroke-linecap:round;fill:none;opacity:.75}
.stem{fill:none;stroke:var(--muted);stroke-width:1}
.mark{fill:var(--paper);stroke:var(--ink);stroke-width:1.6;stroke-linejoin:round}
.solid{fill:var(--ink);stroke:var(--paper);stroke-width:1.2;stroke-linejoin:round}
.dots{fill:none;stroke:var(--cool);stroke-width:3;stroke-linecap:round;opacity:.75}
.many{stroke-width:2.2;opacity:.8}
.peak{fill:var(--hot)}
.curve{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.dash{stroke-dasharray:5 4}
.band{fill:currentColor;opacity:.28}
.dot{fill:currentColor;stroke:var(--paper);stroke-width:1}
.points{fill:currentColor;opacity:.72}
.ellipse{fill:currentColor;fill-opacity:.07;stroke:currentColor;stroke-width:1.5}
.ring{fill:none;stroke:var(--hot);stroke-width:1.5}
.protos{display:grid;grid-template-columns:repeat(auto-fill,minmax(104px,1fr));gap:20px 18px;margin:0;padding:0;list-style:none}
.protos.bars{grid-template-columns:repeat(auto-fill,minmax(168px,1fr));gap:22px 26px}
.protos li{min-width:0;font-size:.82rem;line-height:1.4;break-inside:avoid}
.protos img{display:block;width:100%;height:auto;image-rendering:pixelated;border-radius:3px;background:#000;margin-bottom:.4rem}
.protos svg:not(.sw){display:block;width:100%;margin-bottom:.4rem;background:var(--soft);border-radius:3px}
.protos div{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
.protos b{font-weight:650}
.protos span{color:var(--muted);display:block}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,280px),1fr));gap:26px 30px}
.charts figure{margin:0;min-width:0;break-inside:avoid}
figcaption{display:flex;justify-content:space-between;gap:8px;font-size:.87rem;margin-bottom:.3rem}
figcaption b{font-weight:650}
figcaption span{color:var(--muted);white-space:nowrap}
.charts svg{display:block;width:100%}
table{border-collapse:collapse;font-size:.86rem;line-height:1.4;min-width:100%}
th,td{padding:.34rem .7rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th:first-child,td:first-child{padding-left:0}
th:last-child,td:last-child{padding-right:0}
th{font-weight:600;color:var(--muted);white-space:nowrap;border-bottom-color:var(--edge);vertical-align:bottom}
td:not(:last-child){white-space:nowrap}
.n{text-align:right;white-space:nowrap}
.w{width:100%}
.type{display:inline-block;width:1.45em}
.scroll+.small{margin-top:.75rem}
details{margin-top:.9rem;font-size:.87rem}
details .scroll{max-height:26rem;overflow:auto;margin-top:.3rem}
.tall>.scroll{max-height:44rem;overflow:auto}
details thead th,.tall thead th{position:sticky;top:0;background:var(--paper);box-shadow:inset 0 -1px var(--edge)}
summary{cursor:pointer;color:var(--link);width:max-content;padding:.1rem 0}
.bar{display:inline-block;vertical-align:-1px;width:72px;height:12px;margin-right:.7rem}
.v{display:inline-block;min-width:3.7em}
.bar .bed{fill:var(--line)}.bar .goal{stroke:var(--ink);stroke-width:3}
.matrix{min-width:0;font-size:.8rem}
.matrix td,.matrix th{padding:.26rem .38rem;border:1px solid var(--paper);text-align:right;min-width:2.9em}
.matrix td{background:var(--soft)}
.matrix th{border-color:transparent;color:var(--ink)}
.matrix th:first-child{position:sticky;left:0;background:var(--paper);text-align:left;min-width:0;max-width:11em;padding-left:0;
overflow:hidden;text-overflow:ellipsis;z-index:1}
.matrix td:first-of-type{padding-left:.38rem}.matrix td:last-child,.matrix th:last-child{padding-right:.38rem}
.matrix .sum{background:none;color:var(--muted)}
.matrix td.s1{background:var(--s1);color:var(--i1)}.matrix td.s2{background:var(--s2);color:var(--i2)}.matrix td.s3{background:var(--s3);color:var(--i3)}
.matrix td.s4{background:var(--s4);color:var(--i4)}.matrix td.s5{background:var(--s5);color:var(--i5)}.matrix td.s6{background:var(--s6);color:var(--i6)}
.matrix td.s7{background:var(--s7);color:var(--i7)}.matrix td.s8{background:var(--s8);color:var(--i8)}.matrix td.s9{background:var(--s9);color:var(--i9)}
code,pre{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.86em}
pre{background:var(--soft);padding:.8rem 1rem;border-radius:4px;white-space:pre-wrap;overflow-wrap:anywhere;margin:0 0 1.2rem}
td code{overflow-wrap:anywhere}
.facts{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.3rem 1.4rem;margin:0;font-size:.9rem}
.facts dt{color:var(--muted)}.facts dd{margin:0;overflow-wrap:anywhere}
footer{padding-top:.4rem;padding-bottom:3rem}
@media (max-width:520px){th,td{padding:.34rem .5rem}.protos{grid-template-columns:repeat(auto-fill,minmax(84px,1fr));gap:16px 12px}
.protos.bars{grid-template-columns:repeat(auto-fill,minmax(138px,1fr))}.tiles{grid-template-columns:repeat(auto-fit,minmax(92px,1fr))}}
@media print{@page{margin:14mm}body{font-size:10pt;background:#fff}:root{--paper:#fff}nav,details{display:none}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
header,main,footer{max-width:none;padding-left:0;padding-right:0}header{padding-top:0}
section{display:block;padding:1.2rem 0}.keep{break-inside:avoid}h2,h3,.side,thead,figcaption{break-after:avoid}tr,figure,.legend{break-inside:avoid}
.scroll,.tall>.scroll{overflow:visible;max-height:none;background:none}.side{position:static}.tall thead th{position:static}svg.wide,svg.map{min-width:0}.scroll>svg{max-height:230mm}#timeline svg.wide{max-height:172mm}.legend.rows{display:flex}
#timeline,#novelty,#map,#learning{break-inside:avoid}.body{break-before:avoid}.charts{grid-template-columns:repeat(3,1fr);gap:16px 20px}
.matrix{font-size:7.5pt}.matrix td,.matrix th{min-width:0;padding:1.5pt 3pt}
.dense{font-size:3.8pt}.dense td,.dense th{padding:1pt .3pt}.dense td:last-child,.dense th:last-child,.dense td:first-of-type{padding:1pt .3pt}.matrix th:first-child{position:static}a{color:inherit}}
)css";

}  // namespace

std::string_view report_style() { return kStyle; }

}  // namespace adapvae::cli
