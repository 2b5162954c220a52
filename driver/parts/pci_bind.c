// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PCI driver of this module. While a cell has a function, this driver is bound to it, so that
 * no other driver can bind. It binds to pci_bind_wanted only.
 */
#include <linux/pci.h>
#include "qv.h"
#include "parts/pci.h"

static struct pci_dev *pci_bind_wanted;
static bool pci_bind_registered;

static int pci_bind_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	return pdev == READ_ONCE(pci_bind_wanted) ? 0 : -ENODEV;
}

/* Called when qv_pci_unbind() unbinds the function, or when a cell's function is removed */
static void pci_bind_removed(struct pci_dev *pdev)
{
	if (pdev != READ_ONCE(pci_bind_wanted))
		qv_log("driver", "PCI function %s vanished under its cell", pci_name(pdev));
}

static const struct pci_device_id pci_bind_any_id[] = {
	{ PCI_DEVICE(PCI_ANY_ID, PCI_ANY_ID) },
	{ 0 },
};

static struct pci_driver pci_bind_driver = {
	.name = "qv-cell",
	.id_table = pci_bind_any_id,
	.probe = pci_bind_probe,
	.remove = pci_bind_removed,
	.driver.suppress_bind_attrs = true,
};

int qv_pci_bind(struct pci_dev *pdev)
{
	int error = 0;

	WRITE_ONCE(pci_bind_wanted, pdev);
	if (!pci_bind_registered) {
		error = pci_register_driver(&pci_bind_driver);
		pci_bind_registered = !error;
	}
	if (!error && pdev->driver != &pci_bind_driver)
		error = device_driver_attach(&pci_bind_driver.driver, &pdev->dev);
	WRITE_ONCE(pci_bind_wanted, NULL);
	return pdev->driver == &pci_bind_driver ? 0 : error ? error : -EBUSY;
}

void qv_pci_unbind(struct pci_dev *pdev)
{
	WRITE_ONCE(pci_bind_wanted, pdev);
	device_release_driver(&pdev->dev);
	WRITE_ONCE(pci_bind_wanted, NULL);
}

bool qv_pci_is_bound(const struct pci_dev *pdev)
{
	return pdev->driver == &pci_bind_driver;
}

void qv_pci_unload(void)
{
	if (pci_bind_registered)
		pci_unregister_driver(&pci_bind_driver);
}
