// The list of versions in the side bar. `python -m docs.publish` writes versions.js beside the
// folders of all versions, so that pages of an old version know the newer ones. A local build has
// none, and the list has its own version.
addEventListener("DOMContentLoaded", () => {
  const root = new URL(document.documentElement.dataset.content_root || "./", location.href);
  const script = document.createElement("script");
  script.src = new URL("../versions.js", root);
  script.onload = script.onerror = () => {
    for (const select of document.querySelectorAll(".versions select")) {
      for (const version of window.halfwarpVersions ?? [select.dataset.version]) {
        const isThis = version === select.dataset.version;
        select.add(new Option(version, version, isThis, isThis));
      }
      select.onchange = async () => {
        const folder = new URL(`../${select.value}/`, root);
        const same = new URL(location.href.slice(root.href.length), folder);
        const found = await fetch(same, { method: "HEAD" }).catch(() => null);
        location.href = found && found.ok ? same : new URL("index.html", folder);
      };
      select.closest(".versions").hidden = false;
    }
  };
  document.head.append(script);
});
