// Ctrl+K moves to the search field.
addEventListener("DOMContentLoaded", () => {
  const field = document.querySelector(".sidebar-search");
  if (!field) return;
  field.placeholder = "Search (Ctrl+K)";
  addEventListener("keydown", (event) => {
    if ((event.ctrlKey || event.metaKey) && event.key === "k") {
      event.preventDefault();
      document.querySelector("#__navigation").checked = true;
      field.focus();
      field.select();
    }
  });
});
