/// What the page does, in parts that share one scope: the script is one element.
enum ReportScript {
  /// Numbers for people, colours, axes, and the curve.
  static let charts = #"""
    "use strict";
    const data = JSON.parse(document.getElementById("data").textContent);
    const at = id => document.getElementById(id);
    const add = (parent, tag, text, name) => {
      const element = parent.appendChild(document.createElement(tag));
      if (text !== undefined) element.textContent = text;
      if (name) element.className = name;
      return element;
    };
    const color = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
    const series = index => "s" + Math.min(index, 6);
    const bytes = n => n >= 1e5 ? (n / 1048576).toFixed(2) + " MB" : n.toLocaleString("en") + " bytes";
    const duration = ns => ns >= 1e9 ? (ns / 1e9).toFixed(2) + " s" : ns >= 1e6 ? (ns / 1e6).toFixed(1) + " ms" : (ns / 1e3).toFixed(1) + " µs";
    const unit = most => most >= 1e5 ? 1048576 : 1;
    const moment = us => duration(us * 1e3);

    // A canvas as sharp as the screen, drawn anew whenever its size changes.
    function surface(canvas, height) {
      const ratio = window.devicePixelRatio || 1;
      const width = canvas.clientWidth;
      if (height) canvas.style.height = height + "px";
      const tall = height || canvas.clientHeight;
      canvas.width = Math.max(1, Math.round(width * ratio));
      canvas.height = Math.max(1, Math.round(tall * ratio));
      const pen = canvas.getContext("2d");
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, width, tall);
      pen.font = "12px system-ui, sans-serif";
      return { pen, width, height: tall };
    }
    // Round numbers, about so many of them, from 0 to a limit.
    function ticks(from, to, about, unit) {
      const rough = ((to - from) / about || 1) / unit, power = Math.pow(10, Math.floor(Math.log10(rough)));
      const step = [1, 2, 5, 10].map(n => n * power).find(n => n >= rough) * unit;
      const list = [];
      for (let n = Math.ceil(from / step) * step; n <= to * 1.0000001; n += step) list.push(n);
      return list;
    }
    function axes(s, box, x, y) {
      const pen = s.pen;
      pen.strokeStyle = color("grid"); pen.fillStyle = color("soft"); pen.lineWidth = 1;
      pen.textAlign = "right"; pen.textBaseline = "middle";
      for (const n of ticks(0, y.to, 4, y.unit)) {
        const place = Math.round(y.place(n)) + 0.5;
        pen.beginPath(); pen.moveTo(box.left, place); pen.lineTo(box.right, place); pen.stroke();
        pen.fillText(y.text(n), box.left - 6, place);
      }
      pen.textAlign = "center"; pen.textBaseline = "top";
      for (const n of ticks(x.from, x.to, Math.max(2, s.width / 140), x.unit)) {
        const place = x.place(n);
        if (place > box.right - 20 && place < box.right + 1 || place < box.left + 20) continue;
        pen.fillText(x.text(n), place, box.bottom + 6);
      }
    }
    function legend(list, entries) {
      list.textContent = "";
      for (const [text, name, isRule] of entries) {
        const item = add(list, "li"), mark = add(item, "i", undefined, isRule ? "rule" : "");
        mark.style[isRule ? "borderColor" : "background"] = "var(--" + name + ")";
        add(item, "span", text);
      }
    }

    // The curve over budgets, today's budget and the knee as verticals, the bound as a level.
    const curve = { points: data.advice.curve, chosen: null };
    curve.draw = () => {
      const s = surface(at("curve")), pen = s.pen, points = curve.points;
      const box = { left: 76, right: s.width - 12, top: 14, bottom: s.height - 26 };
      const most = Math.max(1, ...points.map(p => p.budgetBytes), data.advice.budgetBytes);
      const top = Math.max(1, ...points.map(p => p.missedNanoseconds));
      const x = { from: 0, to: most, place: n => box.left + (box.right - box.left) * n / most, text: bytes, unit: unit(most) };
      const y = { to: top, place: n => box.bottom - (box.bottom - box.top) * n / top, text: duration, unit: 1 };
      curve.x = x; curve.box = box;
      axes(s, box, x, y);
      const vertical = (n, name, dash) => {
        pen.strokeStyle = color(name); pen.setLineDash(dash); pen.lineWidth = 1.5;
        pen.beginPath(); pen.moveTo(x.place(n), box.top); pen.lineTo(x.place(n), box.bottom); pen.stroke();
        pen.setLineDash([]);
      };
      pen.strokeStyle = color("s1"); pen.setLineDash([6, 4]); pen.lineWidth = 1.5;
      pen.beginPath(); pen.moveTo(box.left, y.place(data.advice.boundNanoseconds));
      pen.lineTo(box.right, y.place(data.advice.boundNanoseconds)); pen.stroke(); pen.setLineDash([]);
      vertical(data.advice.budgetBytes, "budget", []);
      if (data.advice.knee) vertical(data.advice.knee.budgetBytes, "keep", [3, 3]);
      pen.strokeStyle = color("s0"); pen.lineWidth = 2; pen.beginPath();
      points.forEach((p, i) => pen[i ? "lineTo" : "moveTo"](x.place(p.budgetBytes), y.place(p.missedNanoseconds)));
      pen.stroke();
      if (curve.chosen !== null) {
        const p = points[curve.chosen];
        pen.fillStyle = color("s0"); pen.beginPath();
        pen.arc(x.place(p.budgetBytes), y.place(p.missedNanoseconds), 5, 0, 7); pen.fill();
        at("curve-readout").textContent = bytes(p.budgetBytes) + ": " + p.misses.toLocaleString("en") + " generations, "
          + bytes(p.missedBytes) + ", " + duration(p.missedNanoseconds);
      }
    };
    curve.choose = index => {
      curve.chosen = Math.max(0, Math.min(curve.points.length - 1, index));
      curve.draw();
    };
    at("curve").addEventListener("pointermove", event => {
      const budget = (event.offsetX - curve.box.left) / (curve.box.right - curve.box.left) * curve.x.to;
      let best = 0;
      curve.points.forEach((p, i) => {
        if (Math.abs(p.budgetBytes - budget) < Math.abs(curve.points[best].budgetBytes - budget)) best = i;
      });
      curve.choose(best);
    });
    at("curve").addEventListener("keydown", event => {
      const step = { ArrowLeft: -1, ArrowRight: 1, Home: -1e9, End: 1e9 }[event.key];
      if (step === undefined) return;
      event.preventDefault();
      curve.choose((curve.chosen === null ? -1 : curve.chosen) + step);
    });
    """#
}
