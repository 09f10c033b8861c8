/// How the page looks: light or dark as its reader's system is, in one column on a phone.
enum ReportStyle {
  static let text = """
    :root {
      color-scheme: light dark;
      --paper: #fcfcfb; --card: #ffffff; --ink: #1a1a19; --soft: #5f5e59; --line: #dddcd6; --grid: #ecebe6;
      --s0: #2a78d6; --s1: #eb6834; --s2: #1baf7a; --s3: #eda100; --s4: #e87ba4; --s5: #008300; --s6: #4a3aa7;
      --budget: #1a1a19; --keep: #6d6c66; --warning: #f6d98a; --critical: #f0a8a8;
      --ready: #2a78d6; --pinned: #eb6834; --generating: #4a3aa7;
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --paper: #1a1a19; --card: #232322; --ink: #f3f2ee; --soft: #b5b3ab; --line: #444340; --grid: #333230;
        --s0: #3987e5; --s1: #d95926; --s2: #199e70; --s3: #c98500; --s4: #d55181; --s5: #008300; --s6: #9085e9;
        --budget: #f3f2ee; --keep: #a3a19a; --warning: #5a4a17; --critical: #6b2626;
        --ready: #3987e5; --pinned: #d95926; --generating: #9085e9;
      }
    }
    * { box-sizing: border-box; }
    body { margin: 0 auto; max-width: 72rem; padding: 1rem; background: var(--paper); color: var(--ink);
      font: 15px/1.5 system-ui, sans-serif; }
    h1 { font-size: 1.5rem; margin: 0.5rem 0; overflow-wrap: anywhere; }
    h2 { font-size: 1.1rem; margin: 0 0 0.5rem; }
    section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem; margin: 1rem 0; }
    section h2:not(:first-child) { margin-top: 1.5rem; }
    ul { margin: 0; padding-left: 1.2rem; }
    .tiles, .legend { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.5rem 1.5rem; }
    .tiles b { display: block; font-size: 1.3rem; font-weight: 600; }
    .tiles span, .hint, .legend { color: var(--soft); font-size: 0.9rem; }
    .legend i { display: inline-block; width: 0.8em; height: 0.8em; border-radius: 2px; margin-right: 0.4em; vertical-align: -0.05em; }
    .legend i.rule { height: 0; border-top: 2px solid; border-radius: 0; vertical-align: 0.25em; width: 1.2em; }
    canvas { display: block; width: 100%; touch-action: pan-y; margin-top: 0.5rem; }
    #memory, #curve { height: 16rem; cursor: crosshair; }
    :focus-visible { outline: 2px solid var(--s0); outline-offset: 2px; }
    .readout { min-height: 1.5em; margin: 0.3rem 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
    .bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem; }
    button, input { font: inherit; color: inherit; background: var(--paper); border: 1px solid var(--line); border-radius: 6px;
      padding: 0.25rem 0.8rem; min-height: 2.2rem; }
    .scroll { overflow: auto; max-width: 100%; }
    #lane-scroll, .tall { max-height: 24rem; }
    table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
    th, td { text-align: right; padding: 0.25rem 0.6rem; border-bottom: 1px solid var(--grid); white-space: nowrap; }
    th { color: var(--soft); font-weight: 600; position: sticky; top: 0; background: var(--card); }
    .name { text-align: left; max-width: 20rem; overflow: hidden; text-overflow: ellipsis; }
    td .share { display: inline-block; height: 0.7em; background: var(--s0); border-radius: 0 3px 3px 0; vertical-align: baseline; }
    td.chart { text-align: left; width: 30%; min-width: 6rem; }
    tr.bound .share { background: var(--keep); }
    @media (max-width: 40rem) {
      body { padding: 0.5rem; } section { padding: 0.7rem; } #memory, #curve { height: 12rem; }
      td.chart { display: none; } th.chart { display: none; } th, td { padding: 0.25rem 0.4rem; }
      .name { max-width: 9rem; }
    }
    """
}
